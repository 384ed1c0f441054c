"""psleak's test case, which its documentation runs under pytest without pymalloc.

It has all its checkers, on two callables: whole cycles; and the frames of one, given again and
again to an instance that stays open. Each was called twice before, so that no first use is in it.
A cycle is some hundred calls of a backend, so `times` is 20 and not 200; the rest is as it comes.
It names no lines.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

from harness.bench.tools.in_pytest import run_test
from harness.bench.tools.nursery import Nursery
from harness.bench.tools.tool import Run, Said, Tool, plain_in_python
from harness.selftest import Planted

_SCRIPT = """
import psleak
from harness.bench.plain import Plain

plain = {plain}


class Test(psleak.MemoryLeakTestCase):
    times = 20

    def test_cycles(self):
        plain.cycle()
        plain.cycle()
        self.execute(plain.cycle)

    def test_frames(self):
        backend = plain.open()
        plain.feed(backend)
        plain.feed(backend)
        self.execute(plain.feed, backend)
"""
_VARIABLES = {"PYTHONMALLOC": "malloc", "PYTHONUNBUFFERED": "1"}
_FOUND = re.compile(r"^E +psleak\.(\w+Error): (.*)$", re.MULTILINE)


@contextlib.contextmanager
def _open() -> Iterator[Run]:
    with Nursery(variables=_VARIABLES) as nursery:

        def look(run: Planted) -> Said:
            script = _SCRIPT.format(plain=plain_in_python(run))
            return run_test(nursery, script, ("-x",), read)

        yield look


def read(printed: str) -> Said | None:
    """Its first complaint, None if it has none."""
    found = _FOUND.search(printed)
    return Said(alarm=f"{found[1]}: {found[2]}") if found else None


PSLEAK = Tool("psleak", _open)
