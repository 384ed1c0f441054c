"""What happens in the measured process: load, prepare, measure, tell."""

from __future__ import annotations

import faulthandler
import functools
import os
import random
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from backend.protocol import Backend
from harness import adapt, environment, expectation, inherited, limits, preconditions
from harness.errors import UsageError
from harness.flight import FlightRecorder, failure, full_name
from harness.instruments import INSTRUMENTS
from harness.instruments.setting import Setting
from harness.plan import plan_steps
from harness.probes.trace import TraceLostError
from harness.quiescence import NotQuiescentError
from harness.source import FrameSource, synthetic_source, video_source
from harness.spec import PROGRESS, SPEC, Outcome, RunSpec, write_outcome
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
    except TraceLostError as error:
        outcome.failure = failure("unmeasurable", str(error), recorder.read(), "")
    except SystemExit as error:
        text = f"the backend called sys.exit({error.code!r})"
        outcome.failure = failure("exited", text, recorder.read(), _backend_traceback(error))
    except BaseException as error:  # what a backend raises, KeyboardInterrupt too, is a result
        limits.lift()
        name, message = type(error).__name__, _text(error)
        raised = f"{name}: {message}" if message else name
        text = f"the backend raised {raised.splitlines()[0]}"
        if spec.memory_limit is not None and limits.is_exhaustion(error):
            text += f"; {limits.words(spec.memory_limit)}"
        detail = _backend_traceback(error) + raised
        outcome.failure = msgspec.structs.replace(
            failure("raised", text, recorder.read(), detail),
            exception=full_name(type(error)),
            message=message,
        )
    if os.getpid() != own:
        os._exit(0)  # a fork of the backend's that came back here; the run is its parent's
    outcome.ended = True
    write_outcome(folder, outcome)


def _run(folder: Path, spec: RunSpec, recorder: FlightRecorder, outcome: Outcome) -> None:
    recorder.phase("import")
    limits.limit(spec.memory_limit)
    factory = adapt.load(spec.target)
    outcome.target_root = adapt.root_of(factory)
    recorder.phase("decode")
    outcome.default_format = _default_format(factory)
    outcome.stateful = spec.stateful or bool(getattr(factory, "stateful", False))
    source, workload = _prepare(spec, outcome)
    outcome.workload = str(workload)
    outcome.repeats = max(1, -(-spec.least_frames // len(source)))
    if outcome.repeats > 1:
        source, workload = source.repeated(outcome.repeats), workload.repeated(outcome.repeats)
    outcome.environment = environment.describe()
    outcome.notes = (*outcome.notes, *preconditions.notes())
    if inherited.is_inherited(spec.target):
        outcome.environment["allocator"] = inherited.UNPINNED
        outcome.notes = (*outcome.notes, inherited.NOTE)
    write_outcome(folder, outcome)
    # Which step is warm-up matters to who reads what is measured, not to who drives.
    steps = plan_steps(workload, warmup=0, default_format=outcome.default_format)
    open_backend = functools.partial(_open, factory, spec)
    setting = Setting(spec, folder, outcome, recorder, open_backend, source, steps)
    limits.limit(spec.memory_limit)  # anew: what was imported and prepared is not the backend's
    INSTRUMENTS[spec.instrument](setting)
    limits.lift()
    if spec.instrument == "trace":
        whole = workload.with_format(outcome.default_format)
        outcome.expected = expectation.stated(factory, spec.options, whole, steps)


def _open(factory: Callable[..., Any], spec: RunSpec) -> Backend:
    """Open a backend, with the same random numbers to draw from each time.

    So that weights which are not loaded from anywhere are those of every other instance.
    """
    random.seed(spec.seed)
    np.random.seed(spec.seed)
    if torch := sys.modules.get("torch"):
        torch.manual_seed(spec.seed)
    return adapt.open_backend(factory, spec.options, spec.methods)


def _prepare(spec: RunSpec, outcome: Outcome) -> tuple[FrameSource, Workload]:
    if spec.video is None:
        assert spec.workload is not None
        workload = Workload.parse(spec.workload)
        return synthetic_source(workload, outcome.default_format, spec.seed), workload
    from harness.video import decode  # libav takes 0.1 s to import, and only a video needs it

    video = decode(Path(spec.video), outcome.default_format)
    outcome.notes = tuple(video.notes)
    return video_source(video), video.workload


def _default_format(factory: Any) -> str:
    formats = getattr(factory, "formats", None)
    return str(formats[0]) if formats else "rgb24"


def _text(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:
        return "(it has no text: its __str__ raised)"
    return _encodable(text)


def _encodable(text: str) -> str:
    """With escapes for lone surrogates, as in names of files that are not UTF-8."""
    return text.encode(errors="backslashreplace").decode()


def _backend_traceback(error: BaseException) -> str:
    """The traceback below the harness's own frames."""
    harness = str(Path(__file__).parent)
    frames = traceback.extract_tb(error.__traceback__)
    while len(frames) > 1 and frames[0].filename.startswith(harness):
        del frames[0]
    return "".join(traceback.format_list(frames))
