"""A run that has no room for its own files is told as that, and not held against the backend."""

from __future__ import annotations

import os
import shutil
from collections import namedtuple
from typing import Any

import pytest

from harness.verify import verify

Usage = namedtuple("Usage", "total used free")


def exits() -> Any:
    os._exit(70)


@pytest.mark.parametrize(("free", "told"), [(4096, True), (1 << 30, False)])
def test_a_full_folder_is_named_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, free: int, told: bool
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(1 << 30, 0, free))
    report = verify(f"{__file__}:exits", "8x8@25*4", quick=True)
    assert report.verdict == "no-verdict"
    assert report.failure is not None
    assert ("for the trace: set TMPDIR to a larger folder" in report.failure.text) is told
