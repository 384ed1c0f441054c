"""A cache keyed by shape that has room for all there are: it fills, and then is flat."""

from __future__ import annotations

from backend.faults.fault import Green
from backend.frame import Frame

_MOST = 8
_SIZES = "64x64", "48x64", "32x64", "64x32"


class Backend:
    """Makes an entry for each shape, and starts over if there are too many."""

    def __init__(self) -> None:
        self._cache: dict[tuple[int, int], bytearray] = {}

    def __call__(self, frame: Frame) -> Frame:
        size = frame.width, frame.height
        if size not in self._cache:
            if len(self._cache) == _MOST:
                self._cache.clear()
            self._cache[size] = bytearray(3000)
        return frame


GREEN = Green(
    about="a bounded cache of shapes that fills",
    workload=",".join(f"{size}@25*10" for size in _SIZES * 3),
    backend=Backend,
)
