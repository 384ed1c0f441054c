"""Fixtures of the tests of video files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.harness.video_files import encoded


@pytest.fixture(scope="module")
def jumping() -> bytes:
    """Two raw H.264 streams of different size, joined: the decoder changes size mid-stream."""
    return b"".join(
        encoded("h264", "libx264", "yuv420p", size, 12, fps=100) for size in [(64, 48), (98, 34)]
    )


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write_file(data: bytes, name: str = "video.bin") -> Path:
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return write_file
