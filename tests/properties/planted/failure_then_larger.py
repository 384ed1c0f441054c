"""After a frame that failed, the next growth takes twice the memory."""

from __future__ import annotations

from backend.errors import FrameError
from backend.frame import Frame
from backend.reference import TorchBackend


class Faulty(TorchBackend):
    """Doubts its capacity once a frame has failed."""

    doubt = 2

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]
        self._factor = 1

    def get_result(self) -> Frame | None:
        try:
            return super().get_result()
        except FrameError:
            self._factor = self.doubt
            raise

    def _grow(self, staging_bytes: int, input_bytes: int) -> None:
        super()._grow(self._factor * staging_bytes, self._factor * input_bytes)
        self._factor = 1


class Repaired(Faulty):
    """A failure says nothing about memory."""

    doubt = 1
