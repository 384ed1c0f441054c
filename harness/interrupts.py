"""Ctrl-C at moments in which it would break more than the run."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def held_back() -> Iterator[None]:
    """Have Ctrl-C wait for the end of what is done in here, and raise KeyboardInterrupt then.

    An import that is broken off leaves half a module, whose next user fails with an error of its
    own, or crashes; a process that has just been started is not known yet to who must end it.
    """
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not ours or threading.current_thread() is not threading.main_thread():
        yield  # it is ignored, somebody else's, or another thread's
        return
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if came:
        raise KeyboardInterrupt
