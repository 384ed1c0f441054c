"""What happens in the measured process: load, prepare, measure, tell."""

from __future__ import annotations

import faulthandler
import functools
import gc
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

import msgspec

from backend.frame import Frame
from harness import adapt, environment
from harness.driver import Driver, Source
from harness.errors import UsageError
from harness.flight import FlightRecorder, failure, map_file
from harness.plan import PlannedStep, plan_steps
from harness.probes import free_lists, resources, trace
from harness.quiescence import NotQuiescentError
from harness.source import synthetic_source, video_source
from harness.spec import JOURNAL, PROGRESS, SPEC, TRACE, Outcome, RunSpec, write_outcome
from harness.workload import Workload


def main(folder: Path) -> None:
    """Run what `spec.json` in `folder` says and leave `outcome.json` there."""
    faulthandler.enable()
    # The parent sends this to a run that hangs, to learn where.
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    spec = msgspec.json.decode((folder / SPEC).read_bytes(), type=RunSpec)
    os.chdir(spec.cwd)
    sys.path[:] = spec.sys_path
    recorder = FlightRecorder(folder / PROGRESS)
    outcome = Outcome()
    own = os.getpid()
    try:
        _run(folder, spec, recorder, outcome)
    except UsageError as error:
        outcome.usage_error = str(error)
    except NotQuiescentError as error:
        outcome.failure = failure("not-quiescent", str(error), recorder.read(), "")
    except SystemExit as error:
        text = f"the backend called sys.exit({error.code!r})"
        outcome.failure = failure("exited", text, recorder.read(), _backend_traceback(error))
    except BaseException as error:  # what a backend raises, KeyboardInterrupt too, is a result
        raised = _name_and_text(error)
        text = f"the backend raised {raised.splitlines()[0]}"
        detail = _backend_traceback(error) + raised
        outcome.failure = failure("raised", text, recorder.read(), detail)
    if os.getpid() != own:
        os._exit(0)  # a fork of the backend's that came back here; the run is its parent's
    outcome.ended = True
    write_outcome(folder, outcome)


def _run(folder: Path, spec: RunSpec, recorder: FlightRecorder, outcome: Outcome) -> None:
    recorder.phase("import")
    factory = adapt.load(spec.target)
    outcome.target_root = adapt.root_of(factory)
    recorder.phase("decode")
    outcome.default_format = _default_format(factory)
    source, workload = _prepare(spec, outcome)
    outcome.workload = str(workload)
    # Which step is warm-up matters to who reads the trace, not to who drives.
    steps = plan_steps(workload, warmup=0, default_format=outcome.default_format)
    open_backend = functools.partial(adapt.open_backend, factory, spec.options)
    outcome.environment = environment.describe()
    write_outcome(folder, outcome)
    journal = memoryview(map_file(folder / JOURNAL, 8 * len(steps) * spec.cycles)).cast("q")
    _rehearse(source, steps[:2], recorder)
    driver = Driver(open_backend, source, steps, recorder, trace.mark, journal, spec.patience_s)
    _measure(driver, folder, spec.cycles, outcome)


def _prepare(spec: RunSpec, outcome: Outcome) -> tuple[Source, Workload]:
    if spec.video is None:
        assert spec.workload is not None
        workload = Workload.parse(spec.workload)
        return synthetic_source(workload, outcome.default_format, spec.seed), workload
    from harness.video import decode  # libav takes 0.1 s to import, and only a video needs it

    video = decode(Path(spec.video), outcome.default_format)
    outcome.notes = tuple(video.notes)
    return video_source(video), video.workload


def _measure(driver: Driver, folder: Path, cycles: int, outcome: Outcome) -> None:
    """Trace all cycles, with the garbage collector off: what needs it to be freed, is not freed."""
    ends: list[dict[str, Any]] = []
    gc.collect()
    gc.disable()
    kept = free_lists.empty()
    with trace.tracker(folder / TRACE):
        free_lists.fill()
        try:
            outcome.baseline = resources.snapshot()
            trace.mark()
            for number in range(1, cycles + 1):
                driver.run_cycle(number)
                ends.append(resources.snapshot())
        finally:
            outcome.nireq = driver.nireq
            outcome.cycle_ends = tuple(ends)
    del kept


class _Rehearsal:
    """A backend that does nothing, to have the harness itself past its first use."""

    def __init__(self) -> None:
        self._ready = 0

    def execute(self, frame: Frame) -> None:
        self._ready += frame.pts >= 0

    def get_result(self) -> object | None:
        if not self._ready:
            return None
        self._ready -= 1
        return self

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass


def _rehearse(source: Source, steps: list[PlannedStep], recorder: FlightRecorder) -> None:
    driver = Driver(_Rehearsal, source, steps, recorder, trace.mark, [0] * len(steps), 60.0)
    driver.run_cycle(1)
    resources.snapshot()


def _default_format(factory: Any) -> str:
    formats = getattr(factory, "formats", None)
    return str(formats[0]) if formats else "rgb24"


def _name_and_text(error: BaseException) -> str:
    name = type(error).__name__
    try:
        text = str(error)
    except Exception:
        text = "(it has no text: its __str__ raised)"
    return f"{name}: {text}" if text else name


def _backend_traceback(error: BaseException) -> str:
    """The traceback below the harness's own frames."""
    harness = str(Path(__file__).parent)
    frames = traceback.extract_tb(error.__traceback__)
    while len(frames) > 1 and frames[0].filename.startswith(harness):
        del frames[0]
    return "".join(traceback.format_list(frames))
