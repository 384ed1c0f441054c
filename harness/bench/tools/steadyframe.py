"""This detector: `verify` as the self-test calls it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from harness import isolate
from harness.bench.tools.tool import Run, Said, Tool
from harness.selftest import Planted, check
from harness.verify import verify


@contextlib.contextmanager
def _open() -> Iterator[Run]:
    isolate.prestart()
    yield _look


def _look(run: Planted) -> Said:
    """An alarm is the rule and the kind that must be named, and anything on a backend that is
    right. The place is the fault's own, if that line and no other was named."""
    seen = check(run, verify(run.factory, **run.asked), 0.0)
    if not run.rule:
        return Said(alarm="; ".join(seen.said))
    alarm = f"{run.rule}: {run.kind}" if seen.found else ""
    return Said(alarm=alarm, places={(run.file, run.line): 1} if seen.named else {})


STEADYFRAME = Tool("steadyframe", _open)
