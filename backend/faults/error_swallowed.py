"""A frame that fails is dropped without a word: its caller waits for ever."""

from __future__ import annotations

from backend.faults.fault import Fault
from backend.frame import Frame


class Repaired:
    """Raises."""

    def __init__(self) -> None:
        self._done: list[Frame] = []

    def execute(self, frame: Frame) -> None:
        """Take in one frame."""
        try:
            self.infer(frame)
        except ValueError:
            self.failed()
            return
        self._done.append(frame)

    def infer(self, frame: Frame) -> None:
        """Raise ValueError for what is no picture."""
        if frame.data.ndim != 3:
            raise ValueError("the model takes three channels")

    def failed(self) -> None:
        """A frame failed: what is raised goes to the caller."""
        raise

    def get_result(self) -> Frame | None:
        """The next result, None if none is ready."""
        return self._done.pop(0) if self._done else None

    def flush(self) -> None:
        """Nothing to be done."""

    def close(self) -> None:
        """Nothing is held."""
        self._done.clear()


class Faulty(Repaired):
    """Keeps silent."""

    def failed(self) -> None:
        """A frame failed."""


FAULT = Fault(
    about="a failed frame has neither an exception nor a result",
    rule="error-path",
    kind="swallowed-error",
    level="zero-growth",
    workload="32x32@25*12",
    quick=False,
    faulty=Faulty,
    repaired=Repaired,
)
