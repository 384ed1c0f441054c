"""Fixtures of the measurement core's tests: nothing that a planted fault leaves may stay."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import isolate
from tests.harness.core.helpers import MARKER


@pytest.fixture(scope="session", autouse=True)
def marker() -> Iterator[str]:
    """A marker in the environment of the zygote and all below it; what bears it is removed."""
    isolate.shutdown()
    os.environ["STEADYFRAME_MARKER"] = MARKER
    yield MARKER
    isolate.shutdown()
    del os.environ["STEADYFRAME_MARKER"]
    for left in Path("/dev/shm").glob(f"{MARKER}*"):
        left.unlink()


@pytest.fixture
def temp_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder for temporary files, the zygote's and the runs' included."""
    folder = tmp_path / "temp"
    folder.mkdir()
    isolate.shutdown()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    isolate.shutdown()
