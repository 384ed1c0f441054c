"""The errors instrument: bad frames between good ones, and what each call makes of them.

Four passes through an instance each: two with the good frames alone, to know what their results
are; one at native speed, with a sample of cheap numbers after each round of errors; and the last
one traced. The collector runs at the end of each round only, so that what errors leave to it is
told from what they leak. That one is closed twice: the second time must do nothing.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable

from harness import bad_frames
from harness.bad_frames import PASSES
from harness.driver import GRACE_S
from harness.flight import map_file
from harness.instruments.feeding import SHORT_GRACE_S, Feeding, nothing
from harness.instruments.setting import Setting
from harness.probes import free_lists, trace
from harness.probes.heap import FIELDS, Sampler
from harness.result_log import ResultLog
from harness.source import FrameSource
from harness.spec import RESULTS, SAMPLES, TRACE
from harness.spoiled import spoiled_source

_TIMES_SLOWEST = 4
"""A result is waited for this many times as long as the slowest one of good frames took."""
_ROOM = 4 * len(bad_frames.schedule())


def run(setting: Setting) -> None:
    """Write rows to RESULTS, a TRACE, and samples to SAMPLES.

    The first sample, which is the sampler's own first use, is taken before the screened pass; the
    others at the end of each round.
    """
    frames = spoiled_source(setting.source.frame(0), setting.spec.seed)
    log = ResultLog(setting.folder / RESULTS, len(PASSES), _ROOM)
    memory = map_file(setting.folder / SAMPLES, 8 * len(FIELDS) * (1 + bad_frames.ROUNDS))
    sample = Sampler(memoryview(memory).cast("q"))
    setting.recorder.frames(len(frames))
    gc.freeze()  # what was imported is no garbage, and would make each collection slow
    planned = bad_frames.bursts()
    bursts = [([frame.number for frame in burst], ends) for burst, ends in planned]
    good = [([frame.number for frame in burst if not frame.bad], ends) for burst, ends in planned]
    alone = _pass(setting, log, frames, 1, grace_s=GRACE_S)
    alone.run(good)
    grace_s = min(max(SHORT_GRACE_S, _TIMES_SLOWEST * alone.slowest_s), GRACE_S)
    _pass(setting, log, frames, 2, grace_s=grace_s).run(good)
    gc.collect()
    gc.disable()
    sample()
    _pass(setting, log, frames, 3, ended_round=sample, grace_s=grace_s).run(bursts)
    gc.collect()
    emptied = free_lists.empty()
    with trace.tracker(setting.folder / TRACE):
        free_lists.fill()
        trace.mark()
        _pass(setting, log, frames, 4, trace.mark, grace_s=grace_s).run(bursts, close_twice=True)
    del emptied


def _settle() -> None:
    """Free garbage, and what the interpreter keeps for itself: names that were looked up."""
    gc.collect()
    sys._clear_type_cache()


def _pass(
    setting: Setting,
    log: ResultLog,
    frames: FrameSource,
    number: int,
    mark: Callable[[], None] = nothing,
    ended_round: Callable[[], None] = nothing,
    *,
    grace_s: float,
) -> Feeding:
    log.begin(number - 1)
    setting.recorder.cycle(number)
    return Feeding(setting, log, frames, mark, ended_round, _settle, grace_s)
