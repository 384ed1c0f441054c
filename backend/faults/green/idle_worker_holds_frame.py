"""A worker that waits for its next frame still has the last one in a local variable."""

from __future__ import annotations

import queue
import threading
from typing import Any

from backend.faults.fault import Green
from backend.frame import Frame


class Backend:
    """Serves frames on a thread."""

    def __init__(self) -> None:
        self._todo: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while (frame := self._todo.get()) is not None:
            self._done.put(frame)

    def execute(self, frame: Frame) -> None:
        """Submit one frame."""
        self._todo.put(frame)

    def get_result(self) -> Any:
        """The next result, None if none is ready."""
        return None if self._done.empty() else self._done.get()

    def flush(self) -> None:
        """The driver waits for what is due."""

    def close(self) -> None:
        """End the worker; a second call does nothing."""
        if self._thread.is_alive():
            self._todo.put(None)
            self._thread.join()


GREEN = Green(
    about="an idle worker that still holds its last frame",
    workload="32x32@100*60",
    backend=Backend,
)
