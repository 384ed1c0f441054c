"""What faults with a thread of their own have in common: one worker, served in order."""

from __future__ import annotations

import queue
import threading
from typing import Any

from backend.frame import Frame

_FLUSH = object()


class OnWorker:
    """Works on each frame on its own thread. `work` is what a fault changes."""

    def __init__(self) -> None:
        self._todo: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._flushed: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="fault-worker", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while (item := self._todo.get()) is not None:
            if item is _FLUSH:
                self._flushed.put(None)
            else:
                self._done.put(self.work(item))
            del item  # an idle worker keeps nothing
        self.finish()

    def work(self, frame: Frame) -> Any:
        """The result of one frame; on the worker."""
        return frame

    def finish(self) -> None:
        """Called on the worker when it is to end."""

    def execute(self, frame: Frame) -> None:
        """Submit one frame."""
        self._todo.put(frame)

    def get_result(self) -> Any:
        """The next result, None if none is ready."""
        return None if self._done.empty() else self._done.get()

    def flush(self) -> None:
        """Wait until all submitted frames are done."""
        self._todo.put(_FLUSH)
        self._flushed.get()

    def close(self) -> None:
        """End the worker; a second call does nothing."""
        if self._thread.is_alive():
            self._todo.put(None)
            self._thread.join()
