"""The tracing instrument: every allocation of all cycles in one trace.

The garbage collector is off until the last cycle is over. Then it runs once, in an interval of its
own, so that what needed it to be freed is told from what was freed in time and from what leaked.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any

from harness import limits
from harness.driver import Driver
from harness.instruments import arena
from harness.instruments.rehearsal import rehearse
from harness.instruments.setting import Setting
from harness.probes import free_lists, garbage, resources, trace
from harness.probes.shared_memory import Segments
from harness.spec import TRACE


def run(setting: Setting) -> None:
    """Trace all cycles into TRACE; the ledger of resources goes into the outcome."""
    driver = trace_cycles(setting, Driver.run_cycle)
    if driver.has_map:
        arena.ask(setting)


def run_early_close(setting: Setting) -> None:
    """The same for cycles whose backend is closed while frames are in flight."""
    trace_cycles(setting, Driver.run_early_close)


def trace_cycles(setting: Setting, cycle: Callable[[Driver, int], None]) -> Driver:
    """Call `cycle` with a driver, which is returned, and the number of each cycle; trace that."""
    outcome = setting.outcome
    segments = Segments()
    segments.watch_python()

    def mark() -> None:
        segments.look()
        trace.mark()

    rehearse(setting, mark)
    resources.snapshot(segments)
    driver = setting.driver(mark)
    ends: list[dict[str, Any]] = []
    gc.collect()
    gc.freeze()  # what is there now is no garbage of the run's, and need not be looked through
    gc.disable()
    emptied = free_lists.empty()
    with trace.tracker(setting.folder / TRACE):
        free_lists.fill()
        output = trace.Output(setting.folder / TRACE)
        try:
            outcome.baseline = resources.snapshot(segments)
            mark()
            started = time.perf_counter()
            for number in range(1, setting.spec.cycles + 1):
                cycle(driver, number)
                output.check()
                ends.append(resources.snapshot(segments))
                if number == 1 < setting.spec.cycles:
                    # What the first cycle leaves is first use, as it is for memory: compilers and
                    # importers leave reference cycles behind.
                    garbage.collect(outcome.target_root)
            outcome.measured_s = time.perf_counter() - started
            outcome.garbage = garbage.collect(outcome.target_root)
            trace.mark()
            outcome.mapped = resources.mapped()
        finally:
            limits.lift()  # what was traced until now is still to be written
            outcome.nireq = driver.nireq
            outcome.threads = driver.threads
            outcome.cycle_ends = tuple(ends)
    del emptied
    return driver
