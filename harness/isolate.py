"""A fresh process per run: starts the zygote, hands it runs, watches them, and cleans up."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from harness import limits, zygotes
from harness.flight import FlightRecorder, Position, failure
from harness.result import Failure
from harness.spec import PROGRESS, SPEC, STDERR, Outcome, RunSpec, read_outcome
from harness.zygotes import prestart, shutdown

__all__ = ["DEFAULT_TIMEOUT", "Ended", "prestart", "run", "shutdown"]

DEFAULT_TIMEOUT = 60.0
"""Seconds without any progress after which a run counts as hung."""

_POLL = 0.05
_STDERR_TAIL = 4000
_LEAST_ROOM = 1 << 20
"""bytes free in the folder of a run, below which a run that broke off may have had none"""
_DUMP_PAUSE = 0.2
_DUMP_LOOKS = 6


class Ended(msgspec.Struct, frozen=True):
    """How a run ended; its files are in `folder` as long as the context of `run` is open."""

    folder: Path
    outcome: Outcome | None
    failure: Failure | None


@contextlib.contextmanager
def run(spec: RunSpec, timeout: float, watch: Callable[[Position, Path], None]) -> Iterator[Ended]:
    """Run a child to its end. Its folder, with the trace, is removed when the context is left.

    Several runs may be on at once, each on a thread of the caller's. `watch` is called a few times
    a second while the child runs, with its position and the folder.
    """
    folder = Path(tempfile.mkdtemp(prefix=zygotes.run_folders()))
    try:
        (folder / SPEC).write_bytes(msgspec.json.encode(spec))
        recorder = FlightRecorder(folder / PROGRESS, create=True)
        try:
            with zygotes.borrowed(spec.target) as zygote:
                ended = _run(zygote, folder, recorder, timeout, watch)
        finally:
            recorder.close()
        yield _out_of_room(_out_of_memory(ended, spec.memory_limit))
    finally:
        # The zygote removes it too, at any moment, when it is shut down.
        shutil.rmtree(folder, ignore_errors=True)


def _run(
    zygote: zygotes.Zygote,
    folder: Path,
    recorder: FlightRecorder,
    timeout: float,
    watch: Callable[[Position, Path], None],
) -> Ended:
    child = zygote.start(folder)
    position, moved, hung = recorder.read(), time.monotonic(), False
    while (status := zygote.poll(_POLL)) is None:
        watch(recorder.read(), folder)
        if recorder.read() != position:
            position, moved = recorder.read(), time.monotonic()
        elif not hung and time.monotonic() - moved > timeout:
            hung = True
            _end_hung(child, folder / STDERR)
    outcome = read_outcome(folder)
    if outcome is not None and outcome.ended and not hung:
        return Ended(folder, outcome, outcome.failure)
    hung_for = timeout if hung else None
    return Ended(folder, outcome, _explain(folder, recorder.read(), status, hung_for))


def _out_of_memory(ended: Ended, memory_limit: int | None) -> Ended:
    """Name the cause of a crash whose last words were that there was no more memory."""
    failed = ended.failure
    if memory_limit is None or failed is None or failed.kind != "crashed":
        return ended
    if not limits.tells_exhaustion(failed.detail):
        return ended
    text = f"{failed.text}: out of memory, {limits.words(memory_limit)}"
    failed = msgspec.structs.replace(failed, kind="killed", text=text)
    return msgspec.structs.replace(ended, failure=failed)


def _out_of_room(ended: Ended) -> Ended:
    """Name the cause where a run ended for want of room for its own files: not the backend."""
    failed = ended.failure
    if failed is None or failed.kind not in ("crashed", "exited"):
        return ended
    if shutil.disk_usage(ended.folder).free >= _LEAST_ROOM:
        return ended
    text = f"no room is left in {ended.folder.parent} for the trace: set TMPDIR to a larger folder"
    failed = msgspec.structs.replace(failed, text=f"{failed.text}: {text}")
    return msgspec.structs.replace(ended, failure=failed)


def _end_hung(child: int, stderr: Path) -> None:
    """Let the child write where its threads are (see harness.child), then kill it."""
    with contextlib.suppress(ProcessLookupError):
        before = size = stderr.stat().st_size
        os.kill(child, signal.SIGUSR1)
        for _ in range(_DUMP_LOOKS):
            time.sleep(_DUMP_PAUSE)
            last, size = size, stderr.stat().st_size
            if before < last == size:
                break  # it has written, and writes no more
        os.kill(child, signal.SIGKILL)


def _explain(folder: Path, at: Position, status: int, hung_for: float | None) -> Failure:
    """Say why a child did not come to its end."""
    code = os.waitstatus_to_exitcode(status)
    if hung_for is not None:
        kind, what = "hung", f"made no progress for {hung_for:g} s and was ended"
    elif code == -signal.SIGKILL:
        kind, what = "killed", "was killed from outside, most often for memory"
    elif code < 0:
        kind, what = "crashed", f"crashed with {signal.Signals(-code).name}"
    else:
        kind, what = "exited", f"ended the process with exit code {code}"
    return failure(kind, f"the backend {what}", at, _stderr_tail(folder / STDERR))


def _stderr_tail(path: Path) -> str:
    """The end of what the child wrote to stderr, without the harness's part of stack dumps."""
    if not path.exists():
        return ""
    own = (f'File "{Path(__file__).parent}/', 'File "<frozen runpy>"')
    lines = path.read_text(errors="replace").splitlines()
    kept = (
        line
        for line in lines
        if not line.lstrip().startswith(own) and not line.startswith("Extension modules:")
    )
    return _shortened("\n".join(kept))


def _shortened(said: str) -> str:
    """Its end, or of a longer stack the innermost calls, which faulthandler writes first."""
    at = said.rfind("Current thread 0x")
    if at < 0 or len(said) - at <= _STDERR_TAIL:
        return said[-_STDERR_TAIL:]
    return said[at : at + _STDERR_TAIL] + "\n..."
