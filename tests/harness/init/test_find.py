"""What is taken for a backend in sources that are never imported."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.init_find import Kind, best, find
from harness.init_write import case_name, place_of_candidate
from tests.harness.init import projects


def chosen(folder: Path, files: dict[str, str]) -> list[tuple[str, Kind]]:
    found, _ = find(projects.write(folder, files))
    return [(place_of_candidate(folder, each).target, each.kind) for each in best(found)]


@pytest.mark.parametrize(
    ("source", "name", "kind"),
    [
        (projects.INFER, "infer", Kind.INFERS),
        (projects.PROTOCOL, "Filter", Kind.BACKEND),
        (projects.OPENS, "open_filter", Kind.OPENS),
        (projects.CLOSURE, "open_mine", Kind.OPENS),
        ("def open_it():\n    return make()\n", "open_it", Kind.MAYBE),
        ("class Inferer:\n    def __call__(self, frame): ...\n", "Inferer", Kind.INFERS),
        (
            projects.PROTOCOL + "\nclass _More(Filter):\n    pass\n\ndef open_more():\n"
            "    backend = 1\n    yield _More()\n",
            "open_more",
            Kind.OPENS,
        ),
    ],
)
def test_a_backend_is_found(source: str, name: str, kind: Kind, tmp_path: Path) -> None:
    assert chosen(tmp_path, {"mine.py": projects.TRAP + source}) == [(f"mine.py:{name}", kind)]


@pytest.mark.parametrize(
    "source",
    [
        "def infer_shape(width, height): ...\n",
        "def infer(path): ...\n",
        "def open_file(path): ...\n",
        "def _open_it(): ...\n",
        "class Filter:\n    def execute(self, frame): ...\n    def close(self): ...\n",
        "from typing import Protocol\n" + projects.PROTOCOL.replace("Filter", "Filter(Protocol)"),
        "this is not Python",
        "infer = 1\x00",
    ],
)
def test_what_is_none_is_not(source: str, tmp_path: Path) -> None:
    assert chosen(tmp_path, {"mine.py": source}) == []


def test_what_needs_arguments_is_not_ready(tmp_path: Path) -> None:
    needs = projects.PROTOCOL.replace("nireq=1", "model, nireq=1")
    found, _ = find(projects.write(tmp_path, {"mine.py": needs}))
    assert best(found) == []
    assert found[0].needs == ("model",)


def test_fields_of_a_dataclass_are_arguments(tmp_path: Path) -> None:
    init = "    def __init__(self, nireq=1):\n        self.ready = deque()\n"
    fields = "    model: str\n    n: int = 1\n"
    source = projects.PROTOCOL.replace(init, fields).replace("class", "@dataclass\nclass")
    found, _ = find(projects.write(tmp_path, {"mine.py": source}))
    assert [each.needs for each in found] == [("model",)]


def test_a_class_and_what_opens_it_may_lie_apart(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/filters.py": projects.PROTOCOL,
        "pkg/factory.py": "from pkg.filters import Filter\n\ndef open_it():\n    return Filter()\n",
    }
    assert chosen(tmp_path, files) == [("pkg.factory:open_it", Kind.OPENS)]


@pytest.mark.parametrize(
    ("file", "target"),
    [
        ("mine.py", "mine.py:infer"),
        ("tools/mine.py", "tools/mine.py:infer"),
        ("pkg/sub/mine.py", "pkg.sub.mine:infer"),
        ("src/pkg/mine.py", "pkg.mine:infer"),
        ("src/pkg/__init__.py", "pkg:infer"),
    ],
)
def test_targets_of_packages_are_modules(file: str, target: str, tmp_path: Path) -> None:
    files = {"pkg/__init__.py": "", "pkg/sub/__init__.py": "", "src/pkg/__init__.py": ""}
    found = chosen(tmp_path, {**files, file: projects.INFER})
    assert found == [(target, Kind.INFERS)]


@pytest.mark.parametrize(
    "folder", ["tests", ".hidden", "build", "node_modules", "venv/lib/site-packages"]
)
def test_other_peoples_sources_are_not_read(folder: str, tmp_path: Path) -> None:
    files = {
        f"{folder}/mine.py": projects.INFER,
        "venv/pyvenv.cfg": "",
        "test_x.py": projects.INFER,
    }
    assert chosen(tmp_path, files) == []


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("mypackage.filters:open_denoise", "denoise"),
        ("mine.py:FilterGraph", "filter-graph"),
        ("libavfilter:hflip", "hflip"),
        ("identity", "identity"),
        ("m:_", "backend"),
    ],
)
def test_the_name_of_the_case(target: str, name: str) -> None:
    assert case_name(target) == name
