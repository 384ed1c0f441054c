"""glibc's account of its heap, held against psutil's."""

from __future__ import annotations

import psutil

from harness.probes import mallinfo


def test_numbers_are_those_of_psutil_and_follow_what_is_allocated() -> None:
    held = []
    for size in (0, 10_000, 50_000_000):
        before = mallinfo.heap()
        held.append(bytearray(size))
        info, seen = psutil.heap_info(), mallinfo.heap()
        assert seen == (info.heap_used, info.mmap_used)
        assert size <= sum(seen) - sum(before) <= size + 8192


def test_c_library_without_it_is_read_by_psutil(monkeypatch) -> None:
    expected = mallinfo.heap()
    monkeypatch.setattr(mallinfo, "_read", None)
    assert mallinfo.heap() == expected
