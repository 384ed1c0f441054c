"""`steadyframe init`: a test, settings and a CI job for the project in the current folder."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from harness.commands.command import Command
from harness.errors import UsageError
from harness.report.console import say
from harness.report.text import clean

if TYPE_CHECKING:
    from harness.init_find import Candidate
    from harness.init_write import Place

MOST_SHOWN = 10
"""candidates that are told"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add its own."""
    parser.add_argument(
        "target",
        nargs="?",
        metavar="TARGET",
        help="the backend, as for verify; default: the one that is found in the sources here",
    )
    parser.add_argument("--force", action="store_true", help="replace what is there already")


def run(options: Namespace) -> int:
    """Find the backend, write the files, say which, and what to do next."""
    from harness import init_write

    project = Path.cwd()
    place = _given(project, options.target) if options.target else _found(project)
    made = init_write.files(project, place, force=options.force)
    init_write.write_all(project, made)
    say(f"for {clean(place.target)}:\n")
    for each in made:
        say(f"  wrote {clean(str(each.path))}: {each.said}\n")
    if any(str(each.path) == init_write.GITLAB for each in made):
        say(f"  add to .gitlab-ci.yml: include: {init_write.GITLAB}\n")
    say(f"next: {_python()} -m pytest {shlex.quote(str(made[0].path))}\n")
    return 0


def _given(project: Path, target: str) -> Place:
    """Where a target is. Raises UsageError if the sources here say that there is none."""
    from harness import targets
    from harness.init_find import names_in
    from harness.init_write import Place, place_of

    targets.resolve(target)
    file, _, attribute = target.rpartition(":")
    if not file.endswith(".py"):
        src = (project / "src" / file.partition(".")[0]).exists()
        return Place(target, root="src" if src else "")
    path = Path(os.path.normpath(project / file))
    names = names_in(path)
    if names is None:
        raise UsageError(
            f"{file} can't be parsed: mend it first, `python {file}` says what is wrong"
        )
    if attribute.partition(".")[0] not in names:
        raise UsageError(f"{file} has no {attribute}: name a factory in it")
    if not path.is_relative_to(project):
        raise UsageError(f"{file} is not in the current folder: run `steadyframe init` in its own")
    return place_of(project, path.relative_to(project), attribute)


def _found(project: Path) -> Place:
    """Where the only backend of the project is. Raises UsageError if there is none, or more."""
    from harness.init_find import best, find
    from harness.init_write import place_of_candidate

    candidates, files = find(project)
    ready = best(candidates)
    if len(ready) == 1:
        return place_of_candidate(project, ready[0])
    if ready:
        shown = _list(project, ready)
        raise UsageError(f"there is more than one: name it, `steadyframe init TARGET`: {shown}")
    if candidates:
        needs = ", ".join(candidates[0].needs)
        raise UsageError(
            f"{_list(project, candidates[:1])} needs arguments ({needs}): write a function "
            "open_mine() that returns it, or name another TARGET"
        )
    raise UsageError(
        f"no backend was found in {len(files)} Python files here: name it, `steadyframe init "
        "package.module:factory`; it has execute, get_result, flush and close, or is a function "
        "of a frame"
    )


def _list(project: Path, candidates: list[Candidate]) -> str:
    from harness.init_write import place_of_candidate

    names = [place_of_candidate(project, each).target for each in candidates[:MOST_SHOWN]]
    more = len(candidates) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


def _python() -> str:
    """The interpreter, as this project's user would call it."""
    path = Path(sys.executable)
    here = Path.cwd()
    return shlex.quote(str(path.relative_to(here) if path.is_relative_to(here) else path))


COMMAND = Command(
    "write a test, settings and a CI job for your backend into this folder",
    run,
    add_arguments,
    description="Finds the backend in the sources of the current folder, which it reads and does\n"
    "not import, and writes a pytest file, a section of pyproject.toml and a job for CI. A file\n"
    "that is there is left as it is, and then nothing is written (exit code 2).",
    examples=("init", "init mypackage.filters:open_filter --force"),
)
