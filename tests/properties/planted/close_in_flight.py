"""Forgets the frames that are in flight when it is closed: they stay in a list of the module's."""

from __future__ import annotations

from backend.frame import Frame
from backend.reference import TorchBackend

_in_flight: list[Frame] = []


class Faulty(TorchBackend):
    """Takes a frame off the list when its result is collected."""

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]
        self._frames = _in_flight

    def execute(self, frame: Frame) -> None:
        self._frames.append(frame)
        super().execute(frame)

    def get_result(self) -> Frame | None:
        result = super().get_result()
        if result is not None:
            del self._frames[0]
        return result


class Repaired(Faulty):
    """And all of them when it is closed."""

    def close(self) -> None:
        self._frames.clear()
        super().close()
