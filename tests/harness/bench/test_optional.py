"""A peer that is missing is said to be, with what installs it."""

from __future__ import annotations

import shutil
from importlib import metadata

import pytest

from harness.bench import optional


@pytest.fixture
def _nothing_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr(metadata, "version", version)


@pytest.mark.usefixtures("_nothing_there")
def test_a_missing_peer_has_the_command_that_installs_it() -> None:
    assert optional.version("openvino") == "missing: pip install -c constraints.txt -e '.[bench]'"
    assert optional.version("valgrind") == "missing: apt-get install valgrind"
    assert optional.notes("heaptrack") == ["heaptrack is missing: apt-get install heaptrack"]
    assert set(optional.versions()) == {*optional.PACKAGES, *optional.PROGRAMS}


def test_a_peer_that_is_there_has_its_version() -> None:
    assert optional.version("onnxruntime") == metadata.version("onnxruntime")
    assert optional.notes("onnxruntime") == []
