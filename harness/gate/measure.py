"""Cases measured side by side: counts do not depend on what else the machine does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from harness import isolate
from harness.config import Config
from harness.errors import UsageError
from harness.gate.case import CLIP, Case
from harness.result import Report
from harness.targets import resolve
from harness.verify import verify

CLIP_FILE = "clip.h264"


def measure(
    cases: Sequence[Case],
    project: Config,
    folder: Path,
    jobs: int,
    done: Callable[[Case, Report], None],
) -> None:
    """Verify each case, `jobs` at a time, and hand its report to `done` as soon as it is there.

    `folder` takes the clip that cases with the workload `clip` are fed. Raises UsageError for what
    the user can mend; no other case is begun then.
    """
    for case in cases:
        resolve(case.target)  # a misspelt name is told before anything is measured
    clip = _own_clip(folder) if any(case.workload == CLIP for case in cases) else None
    pool = ThreadPoolExecutor(jobs)
    running: dict[Future[Report], Case] = {
        pool.submit(_verify, case, project, clip): case for case in cases
    }
    try:
        for future in as_completed(running):
            done(running.pop(future), future.result())
    except BaseException as error:
        pool.shutdown(wait=False, cancel_futures=True)
        # Ends what is running: else the pool's threads are waited for until their runs end.
        isolate.shutdown()
        pool.shutdown()
        # What was cut off so fails in its own ways; the cause is the error that can be mended.
        ended = [future.exception() for future in running if not future.cancelled()]
        causes = [found for found in (error, *ended) if isinstance(found, UsageError)]
        if isinstance(error, Exception) and causes:
            raise causes[0] from None
        raise
    finally:
        pool.shutdown()


def _verify(case: Case, project: Config, clip: Path | None) -> Report:
    asked: dict[str, Any] = {
        "cycles": case.cycles if case.cycles is not None else project.cycles,
        "timeout": project.timeout,
        "video": clip if case.workload == CLIP else case.video and Path(case.video),
    }
    return verify(
        case.target,
        None if case.workload == CLIP else case.workload,
        level=case.level or project.level or "zero-owned",
        warmup=case.warmup if case.warmup is not None else project.warmup,
        seed=case.seed,
        options=case.options,
        owners=project.owners,
        stateful=case.stateful,
        quick=case.quick,
        **{name: value for name, value in asked.items() if value is not None},
    )


def _own_clip(folder: Path) -> Path:
    from harness.clip import make_clip

    clip = folder / CLIP_FILE
    make_clip(clip)
    return clip
