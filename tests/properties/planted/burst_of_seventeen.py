"""Has room for sixteen results that wait: a burst of more, which only 1000 fps has, loses some."""

from __future__ import annotations

from backend.frame import Frame
from backend.reference import TorchBackend

ROOM = 16


class Faulty(TorchBackend):
    """Forgets the oldest result when there is no room."""

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]
        self._waiting = 0

    def execute(self, frame: Frame) -> None:
        if self._waiting == self.room():
            self.get_result()
        super().execute(frame)
        self._waiting += 1

    def room(self) -> int:
        return ROOM

    def get_result(self) -> Frame | None:
        result = super().get_result()
        self._waiting -= result is not None
        return result


class Repaired(Faulty):
    """Has room for as many as there are."""

    def room(self) -> int:
        return self._waiting + 1
