"""The one thread of a backend in async mode."""

from __future__ import annotations

import atexit
import threading

import torch

from backend.inference import Inference
from backend.queues import BlockingQueue
from backend.request import InferRequest


class Worker(threading.Thread):
    """Runs what is pending until the queue is closed.

    It knows the queue and the inference, not the backend: so there is no reference cycle, and a
    backend that was dropped without `close` can still end its worker.
    """

    def __init__(self, pending: BlockingQueue[InferRequest], inference: Inference) -> None:
        # Daemon: the interpreter would wait for another kind before it calls `_stop_all`.
        super().__init__(name="steadyframe-inference", daemon=True)
        self._pending = pending
        self._inference = inference

    def start(self) -> None:
        """Start the thread. Raises RuntimeError if the system has none to give."""
        super().start()
        with _lock:
            _running.append(self)

    def run(self) -> None:
        """The thread's life."""
        try:
            with torch.no_grad():
                while (request := self._pending.get()) is not None:
                    self._inference.serve(request, propagate=False)
        finally:
            with _lock:
                _running.remove(self)

    def stop(self) -> None:
        """Let the running inference finish, begin no other, and wait for the end of the thread."""
        self._pending.close()
        self.join()


_lock = threading.Lock()
_running: list[Worker] = []


@atexit.register
def _stop_all() -> None:
    """End the workers of backends that nobody closed.

    A daemon thread that is inside of torch when the interpreter goes takes the process down
    ("terminate called without an active exception").
    """
    with _lock:
        workers = list(_running)
    for worker in workers:
        worker.stop()
