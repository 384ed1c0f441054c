"""Valgrind's memcheck, on a plain run in a fork of a process that is under it.

It has `--leak-check` and `--track-fds`, and pymalloc is off, without which it sees arenas and not
the objects in them. It says much of a Python that is sound, so its totals are held against those
of the repaired backend: blocks lost, definitely, indirectly or possibly; descriptors open at exit;
and reads, writes and frees that are invalid. Where the run breaks off, only the last speak. It
knows the lines of C alone.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

from harness.bench.tools.nursery import Nursery
from harness.bench.tools.tool import Run, Said, Tool, plain_command
from harness.selftest import Planted

_UNDER = (
    "valgrind",
    "--tool=memcheck",
    "--leak-check=summary",
    "--track-fds=yes",
    "--log-file=log.%p",
)
_VARIABLES = {"PYTHONMALLOC": "malloc"}
_LOST = ("definitely lost", "indirectly lost", "possibly lost")
_INVALID = re.compile(r"^==\d+== (?:Invalid (?:read|write|free)|Mismatched free)", re.MULTILINE)


@contextlib.contextmanager
def _open() -> Iterator[Run]:
    with Nursery(_UNDER, _VARIABLES) as nursery:
        yield lambda run: _look(nursery, run)


def _look(nursery: Nursery, run: Planted) -> Said:
    ended = nursery.run(plain_command(run))
    log = nursery.folder / f"log.{ended.process}"
    return parse(log.read_text(errors="replace"), ended.failed)


def parse(log: str, failed: str = "") -> Said:
    """What the log of a process says; `failed` is how it broke off, if it did."""
    totals = {"invalid": len(_INVALID.findall(log))}
    if failed:
        return Said(totals=totals, failed=failed)
    for kind in _LOST:
        totals[kind] = _number(rf"{kind}: .* in ([\d,]+) blocks", log)
    totals["descriptors"] = _number(r"FILE DESCRIPTORS: (\d+) open", log)
    return Said(totals=totals)


def _number(pattern: str, log: str) -> int:
    found = re.search(pattern, log)
    return int(found[1].replace(",", "")) if found else 0


MEMCHECK = Tool("valgrind", _open)
