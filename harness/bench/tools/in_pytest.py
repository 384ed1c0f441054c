"""A test of a backend, run by pytest in a fork: what the plugins and test cases have in common."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from pathlib import Path

from harness.bench.tools.nursery import Nursery
from harness.bench.tools.tool import Said

_RAISED = re.compile(r"^E +(\w[\w.]*(?:Error|Exception|Exit|Interrupt)\b.*)", re.MULTILINE)


def arguments(test: Path, *options: str) -> list[str]:
    """Of `python -m`: pytest on one file, away from any project's settings and from our plugin."""
    alone = ("-q", "-p", "no:cacheprovider", "-p", "no:steadyframe")
    return ["pytest", *alone, *options, "--rootdir", str(test.parent), str(test)]


def run_test(
    nursery: Nursery,
    script: str,
    options: tuple[str, ...],
    read: Callable[[str], Said | None],
) -> Said:
    """Run one test file. `read` is given what pytest said of a test that failed, and returns None
    if it was not for what the tool found."""
    test = nursery.folder / "test_backend.py"
    test.write_text(script)
    ended = nursery.run(arguments(test, *options))
    return parse(ended.printed, ended.failed, read)


def parse(printed: str, failed: str, read: Callable[[str], Said | None]) -> Said:
    """What was said by tests that have all passed, or of which one has failed."""
    if not failed:
        return Said()
    said = read(printed) or Said()
    if said.alarm:
        return said
    if raised := _RAISED.search(printed):
        failed = f"raised {raised[1]}"
    elif said.totals:
        return said
    return dataclasses.replace(said, failed=failed)
