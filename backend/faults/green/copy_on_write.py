"""A table made before the fork and written to after it: pages become the process's own, and nothing
is allocated."""

from __future__ import annotations

from backend.faults.fault import Green
from backend.frame import Frame

_PAGE = 4096
_table = bytearray(256 * _PAGE)


class Backend:
    """Writes to another page with each frame."""

    def __init__(self) -> None:
        self._frames = 0

    def __call__(self, frame: Frame) -> Frame:
        self._frames = (self._frames + 1) % 256
        _table[self._frames * _PAGE] = 1
        return frame


GREEN = Green(
    about="resident memory that rises by copy-on-write",
    workload="32x32@25*100",
    backend=Backend,
)
