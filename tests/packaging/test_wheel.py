"""What is in the wheel, and what it says of itself."""

from __future__ import annotations

import re
import tomllib
from configparser import ConfigParser
from email import message_from_string
from email.message import Message
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def name_of(requirement: str) -> str:
    return re.split(r"[^A-Za-z0-9._-]", requirement)[0].lower()


@pytest.fixture(scope="module")
def contents(wheel: Path) -> dict[str, str]:
    """The text of each file, by its name; of a compiled one nothing."""
    with ZipFile(wheel) as archive:
        return {
            name: "" if name.endswith(".so") else archive.read(name).decode()
            for name in archive.namelist()
        }


@pytest.fixture(scope="module")
def metadata(contents: dict[str, str]) -> Message:
    [name] = (name for name in contents if name.endswith(".dist-info/METADATA"))
    return message_from_string(contents[name])


def test_it_has_every_file_of_the_packages_and_nothing_else(contents: dict[str, str]) -> None:
    files = {
        path.relative_to(ROOT).as_posix()
        for package in ("backend", "harness")
        for path in (ROOT / package).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert {"backend/py.typed", "harness/py.typed", "backend/include/steadyframe.h"} <= files
    assert {name for name in contents if ".dist-info/" not in name} == files


def test_entry_points_are_those_of_the_project(contents: dict[str, str]) -> None:
    [name] = (name for name in contents if name.endswith("/entry_points.txt"))
    parser = ConfigParser(delimiters=("=",))
    parser.read_string(contents[name])
    assert {group: dict(parser[group]) for group in parser.sections()} == {
        "console_scripts": PROJECT["scripts"],
        **PROJECT["entry-points"],
    }


def test_it_says_what_it_needs_and_under_which_licence(metadata: Message, contents) -> None:
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "MIT"
    [licence] = (text for name, text in contents.items() if name.endswith("licenses/LICENSE"))
    assert licence == (ROOT / "LICENSE").read_text()
    assert metadata.get_payload().lstrip() == (ROOT / "README.md").read_text()
    assert set(metadata.get_all("Provides-Extra", [])) == set(PROJECT["optional-dependencies"])
    needed: dict[str, set[str]] = {"": set()}
    for requirement in metadata.get_all("Requires-Dist", []):
        extra = re.search(r'extra == "(\w+)"', requirement)
        needed.setdefault(extra[1] if extra else "", set()).add(name_of(requirement))
    assert needed == {
        "": set(map(name_of, PROJECT["dependencies"])),
        **{
            extra: set(map(name_of, requirements))
            for extra, requirements in PROJECT["optional-dependencies"].items()
        },
    }
