"""A failed future and its own exception hold each other: only the collector frees them."""

from __future__ import annotations

from concurrent.futures import Future

from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Asks the future, within whose traceback it is a local variable."""

    def __call__(self, frame: Frame) -> Frame:
        scratch = bytearray(3000)  # <- fault
        done: Future[Frame] = Future()  # <- fault too
        try:
            if frame.data.ndim != 3:
                raise ValueError(f"can't take it, with {len(scratch)} bytes at hand")
            done.set_result(frame)
        except ValueError as error:
            done.set_exception(error)
        return self.result(done)

    def result(self, done: Future[Frame]) -> Frame:
        """The frame, or raise its exception."""
        return done.result()


class Repaired(Faulty):
    """Raises a new exception, which knows of no future."""

    def result(self, done: Future[Frame]) -> Frame:
        """The frame, or raise its exception."""
        failed = done.exception()
        if failed is None:
            return done.result()
        text = str(failed)
        failed.__traceback__ = None
        del failed
        raise ValueError(text)


FAULT = Fault(
    about="a failed future is part of a reference cycle with its exception",
    rule="error-path",
    kind="delayed-release",
    level="zero-growth",
    workload="32x32@25*12",
    quick=False,
    faulty=Faulty,
    repaired=Repaired,
)
