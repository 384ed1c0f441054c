"""The probe of GPU memory, on a torch made by hand: no machine with a GPU has run it."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from harness.probes import cuda


def fake_torch(*, built: bool = True, initialized: bool = True) -> Any:
    stats = {
        0: {"allocated_bytes.all.current": 1024, "active.all.current": 2},
        1: {"allocated_bytes.all.current": 512, "active.all.current": 1},
    }
    return SimpleNamespace(
        backends=SimpleNamespace(cuda=SimpleNamespace(is_built=lambda: built)),
        cuda=SimpleNamespace(
            is_initialized=lambda: initialized,
            device_count=lambda: len(stats),
            memory_stats=stats.__getitem__,
            host_memory_stats=lambda: {"allocated_bytes.current": 4096},
        ),
    )


@pytest.mark.parametrize(
    ("torch", "numbers"),
    [
        (fake_torch(), (1536, 3, 4096)),
        (fake_torch(built=False), (0, 0, 0)),
        (fake_torch(initialized=False), (0, 0, 0)),
        (None, (0, 0, 0)),
    ],
    ids=["two GPUs", "no CUDA", "not used yet", "no torch"],
)
def test_numbers_of_all_devices_are_added_up(
    monkeypatch: pytest.MonkeyPatch, torch: Any, numbers: tuple[int, int, int]
) -> None:
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert cuda.reader()() == numbers


def test_a_torch_without_statistics_of_pinned_memory_will_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    torch = fake_torch()
    del torch.cuda.host_memory_stats
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert cuda.reader()() == (1536, 3, 0)
