"""Looking at a part of a run: the same workload, untouched until the part begins."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable

from harness.instruments.rehearsal import rehearse
from harness.instruments.setting import Setting
from harness.probes.heap import settle


class _WindowClosedError(Exception):
    """Ends a run whose part has been seen. Only the driver is above where it is raised."""


def drive(
    setting: Setting,
    begin: Callable[[], None],
    mark: Callable[[], None],
    end: Callable[[], None],
) -> None:
    """Run up to the end of the last interval of `setting.spec.window`, and no further.

    `begin` is called at the end of the interval before the window, `mark` at the end of each of
    its intervals, `end` when it is over; every other thread is asleep then. The backend may be left
    open: the process ends next.
    """
    first, last = setting.spec.window
    at = 0

    def count() -> None:
        nonlocal at
        settle()  # as the screening run does
        if at == first - 1:
            begin()
        elif first <= at <= last:
            mark()
        at += 1
        if at > last:
            end()
            raise _WindowClosedError

    rehearse(setting, _nothing)
    driver = setting.driver(count)
    gc.collect()
    gc.freeze()
    gc.disable()
    settle()
    if first == 0:
        begin()
    with contextlib.suppress(_WindowClosedError):
        for number in range(1, setting.spec.cycles + 1):
            driver.run_cycle(number)


def _nothing() -> None:
    pass
