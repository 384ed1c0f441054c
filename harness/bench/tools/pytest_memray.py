"""pytest-memray's `limit_leaks`, on two tests that are given what they need by a fixture.

One has three cycles more, after one that takes all first use upon itself; the other the same
frames once more, given to an instance that stays open. It says of each place how many bytes are
left when the test ends, and is to be given a limit: here the least at which it says nothing of the
repaired backend, that is, the most that any place leaves counts as a total, of each test.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

from harness.bench.tools.in_pytest import run_test
from harness.bench.tools.nursery import Nursery
from harness.bench.tools.tool import Place, Run, Said, Tool, plain_in_python
from harness.selftest import Planted

_SCRIPT = """
import pytest
from harness.bench.plain import Plain


@pytest.fixture
def plain():
    plain = {plain}
    plain.cycle()
    return plain


@pytest.fixture
def fed(plain):
    backend = plain.open()
    plain.feed(backend)
    return backend


@pytest.mark.limit_leaks("1 B")
def test_cycles(plain):
    for _ in range({cycles}):
        plain.cycle()


@pytest.mark.limit_leaks("1 B")
def test_frames(plain, fed):
    for _ in range({cycles}):
        plain.feed(fed)
"""
_TEST = re.compile(r"^_+ test_(\w+) _+$", re.MULTILINE)
_LEFT = re.compile(r"^    - ([\d.]+)(\w*)B allocated here:\n((?:        .*\n)*)", re.MULTILINE)
_PLACE = re.compile(r"^        [^:]*:(.*):(\d+)$", re.MULTILINE)
_UNITS = {"": 1, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
_OPTIONS = ("--memray", "--stacks=32")


@contextlib.contextmanager
def _open() -> Iterator[Run]:
    with Nursery() as nursery:

        def look(run: Planted) -> Said:
            script = _SCRIPT.format(plain=plain_in_python(run), cycles=run.asked["cycles"])
            return run_test(nursery, script, _OPTIONS, read)

        yield look


def read(printed: str) -> Said | None:
    """Of each test the most bytes of any place, and of each line the most of a place below it;
    None if none is named."""
    totals: dict[str, int] = {}
    places: dict[Place, int] = {}
    _, *tests = _TEST.split(printed)
    for name, text in zip(tests[::2], tests[1::2], strict=True):
        for number, unit, stack in _LEFT.findall(text):
            left = int(float(number) * _UNITS[unit])
            totals[name] = max(left, totals.get(name, 0))
            for file, line in _PLACE.findall(stack):
                place = (file, int(line))
                places[place] = max(left, places.get(place, 0))
    return Said(totals=totals, places=places) if totals else None


PYTEST_MEMRAY = Tool("pytest-memray", _open)
