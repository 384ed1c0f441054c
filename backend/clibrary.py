"""A backend in a shared library with the C interface of `include/steadyframe.h`.

Per frame it makes no allocation of its own that the tracer could see, so that what is found at its
lines is the library's; the functions of C that it went through are named with the finding.
"""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.convert import check_frame
from backend.frame import PIXEL_FORMATS, Frame

HEADER = Path(__file__).parent / "include" / "steadyframe.h"
_REQUIRED = ("sf_open", "sf_execute", "sf_get_result", "sf_flush", "sf_close")
_FORMATS = {name: name.encode() for name in PIXEL_FORMATS}


class CLibraryError(RuntimeError):
    """A function of the library returned a negative value."""


class _CFrame(ctypes.Structure):
    """`sf_frame`."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("width", ctypes.c_int32),
        ("height", ctypes.c_int32),
        ("format", ctypes.c_char_p),
        ("pts", ctypes.c_int64),
    ]


class CResult:
    """A result in the library's memory, valid until the next call.

    Raises CLibraryError for what is no picture.
    """

    __slots__ = ("_backend", "_call", "_frame", "format", "height", "pts", "width")

    def __init__(self, backend: CLibraryBackend) -> None:
        frame = backend.result
        self._backend = backend
        self._call = backend.calls
        self._frame = frame
        self.width: int = frame.width
        self.height: int = frame.height
        self.format: str = (frame.format or b"").decode(errors="replace")
        self.pts: int = frame.pts
        if (
            self.format not in PIXEL_FORMATS
            or self.width <= 0
            or self.height <= 0
            or not frame.data
        ):
            where = "" if frame.data else ", data NULL"
            raise CLibraryError(
                "sf_get_result returned 1, and its result is no picture: "
                f"{self.width}x{self.height}:{self.format or 'no format'}{where}"
            )

    @property
    def data(self) -> NDArray[Any]:
        """The pixels, copied. Raises CLibraryError for a result that is valid no more."""
        if self._backend.calls != self._call:
            raise CLibraryError("this result was valid until the next call of the library only")
        pixel_format = PIXEL_FORMATS[self.format]
        size = pixel_format.nbytes(self.width, self.height)
        # Not an array type of ctypes: it keeps one for each length for ever.
        pixels: NDArray[Any] = np.frombuffer(
            ctypes.string_at(self._frame.data, size), np.dtype(pixel_format.dtype)
        )
        return pixels.reshape(pixel_format.shape(self.width, self.height))


class CLibraryBackend:
    """One `sf_open` of a library. Raises ValueError for a file that is no such library."""

    def __init__(self, path: str, options: str = "") -> None:
        self._library = _load(_absolute(path))
        self._frame = _CFrame()
        self.result = _CFrame()
        """the library's latest, filled in by `get_result`"""
        self.calls = 0
        """of functions that may invalidate a result"""
        self._handle = self._library.open(options.encode())
        if not self._handle:
            raise ValueError(f"sf_open of {path} returned NULL for the options {options!r}")
        if self._library.nireq:
            self.nireq = int(self._library.nireq(self._handle))

    def execute(self, frame: Frame) -> None:
        """Submit one frame. Raises for one that is none, or that the library refuses."""
        pixel_format, width, height = check_frame(frame)
        data = np.ascontiguousarray(frame.data)
        mine = self._frame
        mine.data = data.ctypes.data
        mine.width, mine.height = width, height
        mine.format, mine.pts = _FORMATS[pixel_format.name], frame.pts
        self.calls += 1
        self._check(self._library.execute(self._open, mine), "sf_execute")

    def get_result(self) -> CResult | None:
        """The next result. Raises for a frame that failed, and for a result that is no picture."""
        if not self._handle:
            return None
        self.calls += 1
        there = self._check(self._library.get_result(self._handle, self.result), "sf_get_result")
        return CResult(self) if there else None

    def flush(self) -> None:
        """Finish all that is in flight."""
        self.calls += 1
        self._check(self._library.flush(self._open), "sf_flush")

    def close(self) -> None:
        """Release everything; a second call does nothing."""
        handle, self._handle = self._handle, None
        self.calls += 1
        if handle:
            self._library.close(handle)

    @property
    def _open(self) -> int:
        if not self._handle:
            raise CLibraryError("the backend is closed")
        return int(self._handle)

    def _check(self, code: int, function: str) -> int:
        if code >= 0:
            return code
        text = self._library.error(self._handle) if self._library.error else None
        words = (text or b"it gives no reason").decode(errors="replace").strip()
        raise CLibraryError(f"{function} returned {code}: {words}")


class _Library:
    """The functions of a library, looked up once.

    A ctypes.CDLL is in a reference cycle with its function type, and each failing look-up leaves a
    text of the linker's behind: neither is for every open.
    """

    def __init__(self, path: str) -> None:
        try:
            library = ctypes.CDLL(path)
        except OSError as error:
            raise ValueError(f"{path} can't be loaded as a library: {error}") from None
        lacking = [name for name in _REQUIRED if not hasattr(library, name)]
        if lacking:
            raise ValueError(f"{path} lacks {', '.join(lacking)}: see {HEADER}")
        handle, frame = ctypes.c_void_p, ctypes.POINTER(_CFrame)
        self.open = _declared(library, "sf_open", handle, ctypes.c_char_p)
        self.execute = _declared(library, "sf_execute", ctypes.c_int, handle, frame)
        self.get_result = _declared(library, "sf_get_result", ctypes.c_int, handle, frame)
        self.flush = _declared(library, "sf_flush", ctypes.c_int, handle)
        self.close = _declared(library, "sf_close", None, handle)
        self.error = _declared(library, "sf_error", ctypes.c_char_p, handle)
        self.nireq = _declared(library, "sf_nireq", ctypes.c_int, handle)


def _declared(library: ctypes.CDLL, name: str, result: Any, *arguments: Any) -> Any:
    """A function with its types, None if the library lacks it."""
    function = getattr(library, name, None)
    if function is not None:
        function.restype, function.argtypes = result, arguments
    return function


def _absolute(path: str) -> str:
    return str(Path(path).resolve())


@functools.cache
def _load(path: str) -> _Library:
    return _Library(path)


class CLibraryFactory:
    """Opens a library: the target `c:PATH`."""

    def __call__(self, path: str, options: str = "") -> CLibraryBackend:
        """Open a backend; errors are those of `CLibraryBackend`."""
        return CLibraryBackend(path, str(options))

    def check(self, path: str) -> None:
        """Raises ValueError for a file that is no such library."""
        _load(_absolute(path))


open_library = CLibraryFactory()
