"""What a backend is: the four methods that the harness calls, and the ways to make one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

from backend.frame import Frame


@runtime_checkable
class Backend(Protocol):
    """A video inference backend.

    The caller is one thread. A backend may work on threads of its own.
    An attribute `nireq`, the number of inference requests in its pool, is optional; the harness
    takes it to know how long such a backend needs to warm up. A method `memory_map()` is optional
    too: the regions of the backend's arena, as used for the geometry of the last frame; a report
    draws them.
    """

    def execute(self, frame: Frame) -> None:
        """Submit one frame. May block while all inference requests are in flight.

        The caller may change or drop the frame once this returns.
        """

    def get_result(self) -> Any | None:
        """Return the next finished result in submission order, None when none is ready.

        Raises for a frame that failed, at that frame's turn.
        """

    def flush(self) -> None:
        """Finish all that is in flight. The results stay available to `get_result`."""

    def close(self) -> None:
        """Release everything. A second call does nothing."""


class Region(NamedTuple):
    """A piece of an arena, and when it is in use: one item of `memory_map()`. A tuple will do."""

    name: str
    offset: int
    """bytes from the arena's beginning"""
    nbytes: int
    first: int
    last: int
    """first and last step of an inference, from 0, both included, in which it is in use"""
    about: str = ""
    """what else there is to say of it: a kind, a shape, a method"""
    whole: int = 0
    """bytes that the same value takes where it is kept whole; 0 for what is no value, such as
    scratch memory, and for a value that another region counts"""


FrameFunction: TypeAlias = Callable[[Frame], Any]
"""A plain callable from a frame to its result, with or without `close()`: adapted to a backend."""

Shape: TypeAlias = tuple[str, int, int]
"""(pixel format, width, height) of a frame"""

Factory: TypeAlias = Callable[..., Backend | FrameFunction]
"""Opens a backend. It may have these attributes:

- `formats` (names of pixel formats): which it takes; the first is what a video is decoded to, and
  what a workload without a format means.
- `stateful`: if true, results depend on the frames before, by design.
- `expected_blocks(steps, **options)`: what a backend opened with these options must hold. `steps`
  has the shapes of the frames of each step, `Sequence[Sequence[Shape]]`; what is returned has for
  each step the bytes of each block that the backend holds at its end, weights included. A report
  draws it, and says where it is not what was measured. None where that can't be said.
"""
