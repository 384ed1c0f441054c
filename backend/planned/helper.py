"""A thread that runs one lane of a plan beside the caller's."""

from __future__ import annotations

import threading

import torch

from backend.planned.plan import Program, run_program
from backend.queues import BlockingQueue


class Helper:
    """Runs programs on a thread of its own, one at a time."""

    def __init__(self) -> None:
        self._todo: BlockingQueue[Program] = BlockingQueue(1)
        self._done: BlockingQueue[Outcome] = BlockingQueue(1)
        self._thread = threading.Thread(
            target=_serve, args=(self._todo, self._done), name="steadyframe-lane", daemon=True
        )
        self._thread.start()

    def start(self, program: Program) -> None:
        """Begin; `wait` must follow."""
        self._todo.put(program)

    def wait(self) -> None:
        """Until it is done. Raises what the program raised."""
        outcome = self._done.get()
        assert outcome is not None
        error, outcome.error = outcome.error, None
        if error is not None:
            try:
                raise error
            finally:
                del error

    def stop(self) -> None:
        """End the thread."""
        self._todo.close()
        self._thread.join()

    def __del__(self) -> None:
        # Dropped without `stop`: at least the thread ends.
        self._todo.close()


class Outcome:
    """What became of a program."""

    __slots__ = ("error",)

    def __init__(self) -> None:
        self.error: BaseException | None = None


def _serve(todo: BlockingQueue[Program], done: BlockingQueue[Outcome]) -> None:
    """The thread's life. It knows the queues only: so a helper that is dropped can end it."""
    outcome = Outcome()
    with torch.no_grad():
        while (program := todo.get()) is not None:
            try:
                run_program(program)
            except BaseException as error:  # it is the caller's
                outcome.error = error
            del program
            done.put(outcome)
