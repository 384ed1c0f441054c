"""Takes a frame of as many pixels as the one before for one of the same shape."""

from __future__ import annotations

from backend.frame import Frame
from backend.reference import TorchBackend


class Faulty(TorchBackend):
    """Knows the shapes of its results by their number of pixels."""

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]
        self._shapes: dict[object, tuple[int, ...]] = {}

    def key(self, frame: Frame) -> object:
        return frame.format, frame.width * frame.height

    def get_result(self) -> Frame | None:
        result = super().get_result()
        if result is not None:
            shape = self._shapes.setdefault(self.key(result), result.data.shape)
            result.data = result.data.reshape(shape)
        return result


class Repaired(Faulty):
    """Knows them by width and height."""

    def key(self, frame: Frame) -> object:
        return frame.format, frame.width, frame.height
