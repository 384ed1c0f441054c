"""After a burst, malloc keeps what it has got from the system: the process stays large, in use or
not. Two threads have an arena each."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from backend.faults.fault import Green
from backend.frame import Frame


class Backend:
    """Takes memory for each frame in flight, and gives it back with the result."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(2)
        self._held: list[tuple[Frame, bytearray]] = []

    def execute(self, frame: Frame) -> None:
        """Take in one frame."""
        self._held.append((frame, self._pool.submit(bytearray, 50_000).result()))

    def get_result(self) -> Frame | None:
        """The next result, None if none is ready."""
        return self._held.pop(0)[0] if self._held else None

    def flush(self) -> None:
        """Nothing to be done."""

    def close(self) -> None:
        """End the threads."""
        self._held.clear()
        self._pool.shutdown()


GREEN = Green(
    about="malloc's arenas stay large after a burst",
    level="zero-growth",
    workload="32x32@25*12,32x32@500*40,32x32@25*12",
    backend=Backend,
)
