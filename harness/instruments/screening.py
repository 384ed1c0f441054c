"""The screening instrument: a sample of cheap, exact numbers at each boundary, at native speed."""

from __future__ import annotations

import gc
import time

from harness.capture import capture
from harness.flight import map_file
from harness.instruments.reference import PER_FRAME
from harness.instruments.rehearsal import rehearse
from harness.instruments.setting import Setting
from harness.pace import RealTime
from harness.probes import free_lists
from harness.probes.heap import FIELDS, Sampler
from harness.result_log import ResultLog
from harness.spec import RESULTS, SAMPLES
from harness.workload import Workload

INTERVALS_BESIDE_STEPS = 3
"""open, flush and close"""
SLOW_FIELDS_EVERY = 16
"""Of a soak run, every so many samples have all but the heap read anew; the others repeat it. To
have the interpreter give back what it keeps takes ten times as long as to read the heap."""
_REHEARSALS = 100
"""digests taken beforehand: the interpreter keeps objects for reuse, the more the first time"""


def run(setting: Setting) -> None:
    """Write len(FIELDS) 64-bit integers for the start and for each interval's end to SAMPLES.

    With `digests`, write a row per result to RESULTS: a group for each cycle.
    """
    samples = 1 + (len(setting.steps) + INTERVALS_BESIDE_STEPS) * setting.spec.cycles
    memory = map_file(setting.folder / SAMPLES, 8 * len(FIELDS) * samples)
    gc.freeze()  # a sample collects, which is slow as long as all that was imported is in sight
    rehearse(setting, Sampler([0] * len(FIELDS) * (len(setting.steps) + INTERVALS_BESIDE_STEPS)))
    soaking = setting.spec.least_frames > 0
    sample = Sampler(memoryview(memory).cast("q"), SLOW_FIELDS_EVERY if soaking else 1)
    log = _log(setting) if setting.spec.digests else None
    clock = _clock(setting) if setting.spec.real_time else None
    driver = setting.driver(sample, log.result if log else None, clock)
    # numpy's free lists, which fill by and by, would look like growth of 32 bytes now and then.
    emptied = free_lists.empty()
    free_lists.fill()
    gc.collect()
    gc.freeze()
    gc.disable()
    if log:
        for _ in range(_REHEARSALS):
            log.result(setting.source.frame(0))
    sample()
    started = time.perf_counter()
    try:
        for number in range(1, setting.spec.cycles + 1):
            if log:
                log.begin(number - 1)
                capture(log, setting.spec.capture if number == 1 else None, setting.folder)
            driver.run_cycle(number)
    finally:
        setting.outcome.measured_s = time.perf_counter() - started
        setting.outcome.nireq = driver.nireq
        if clock:
            setting.outcome.lateness = clock.lateness
    del emptied


def _clock(setting: Setting) -> RealTime:
    """The harness takes a run that rests for twice its patience for one that hangs."""
    workload = Workload.parse(setting.outcome.workload).repeated(setting.outcome.repeats)
    return RealTime(workload, 2 * setting.spec.patience_s)


def _log(setting: Setting) -> ResultLog:
    room = PER_FRAME * (setting.steps[-1].last + 1)
    return ResultLog(setting.folder / RESULTS, setting.spec.cycles, room)
