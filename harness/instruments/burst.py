"""The burst instrument: how many frames a backend lets pile up at its entrance.

`execute` may block while as many frames are in flight as the backend has requests. If it queues
them instead, a producer that is faster than the model fills memory. So a burst of frames is
submitted as fast as can be, and after each `execute` those are counted whose pixels are still
referred to.

Whether a worker keeps up must not depend on the scheduler: for the time of the burst the
interpreter's lock is not passed on unless its holder blocks. Then a worker in Python runs when
`execute` waits for it, and not before. What a worker in native code takes out can only make the
count lower.
"""

from __future__ import annotations

import sys
import weakref
from typing import Any

from backend.protocol import Backend
from harness.instruments.setting import Setting
from harness.quiescence import wait_quiescent

_NEVER_S = 1e6


def run(setting: Setting) -> None:
    """Leave the size of the burst and the most input frames alive in the outcome.

    Nothing is left for a backend that does not say how many requests it has.
    """
    recorder, outcome = setting.recorder, setting.outcome
    recorder.phase("open")
    backend = setting.open_backend()
    nireq = getattr(backend, "nireq", None)
    if isinstance(nireq, int):
        outcome.nireq = nireq
        outcome.burst = 4 * nireq + 16
        recorder.phase("execute")
        outcome.inputs_alive = _submit(backend, setting, outcome.burst)
        wait_quiescent(setting.spec.patience_s)
    recorder.phase("flush")
    backend.flush()
    _drain(backend)
    recorder.phase("close")
    backend.close()


def _submit(backend: Backend, setting: Setting, burst: int) -> int:
    """The most frames alive after any one was submitted."""
    count = setting.steps[-1].last + 1
    # Made beforehand: numpy passes the lock on when it copies pixels.
    frames = [setting.source.frame(number % count) for number in range(burst)][::-1]
    alive: list[weakref.ref[Any]] = []
    most = 0
    before = sys.getswitchinterval()
    sys.setswitchinterval(_NEVER_S)
    try:
        while frames:
            setting.recorder.frame(len(alive))
            alive.append(weakref.ref(frames[-1].data))
            backend.execute(frames.pop())
            _drain(backend)
            most = max(most, sum(reference() is not None for reference in alive))
    finally:
        sys.setswitchinterval(before)
    return most


def _drain(backend: Backend) -> None:
    while backend.get_result() is not None:
        pass
