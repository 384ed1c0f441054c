"""Reports on disk: whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.report import files


def test_write_replaces_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("old")
    files.check_writable(path)
    assert path.read_text() == "old"
    files.write(path, "new")
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.json"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(UsageError, match="No space left"):
        files.write(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_link_keeps_pointing_to_what_it_did(tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("old")
    link.symlink_to(real)
    files.write(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"


def test_new_file_obeys_the_umask(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        files.write(tmp_path / "report.json", "x")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "report.json").stat().st_mode) == 0o640


def test_device_is_written_in_place_and_survives() -> None:
    files.check_writable(Path("/dev/null"))
    files.write(Path("/dev/null"), "x")
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("name", ["missing/report.json", "file/report.json", "", "x" * 300])
def test_unwritable_path_is_found_before_anything_is_measured(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError):
        files.check_writable(tmp_path / name)
