"""What a backend raises, and how a failure becomes text that keeps nothing alive."""

from __future__ import annotations

import os
import traceback

import torch

_MAX_TEXT = 1000
_TORCH_FOLDER = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep


class BackendError(RuntimeError):
    """Base class of all that the reference backend raises while it runs."""


class BackendClosedError(BackendError):
    """A frame was submitted after `close`."""


class FrameError(BackendError):
    """One frame failed; the frames after it are not affected.

    All fields are text, on purpose: an exception object or its traceback would keep tensors,
    frames and Python stack frames alive for as long as the error is.
    """

    def __init__(self, frame: str, cause: str, where: str | None = None) -> None:
        # All three go to `args`, so that the error survives pickling.
        super().__init__(frame, cause, where)
        self.frame = frame
        """geometry, format and pts, e.g. `128x128:rgb24, pts=7`"""
        self.cause = cause
        """what went wrong, with the type of the original exception if it wasn't our own check"""
        self.where = where
        """`file:line in function` in the model's code, None if the model isn't to blame"""

    def __str__(self) -> str:
        place = f" ({self.where})" if self.where else ""
        return f"frame {self.frame}: {self.cause}{place}"


class UnusableError(ValueError):
    """A frame that can't be taken, or a model's output that can't be shown. The text says why."""


def frame_error(
    frame: str, error: BaseException, handled: BaseException | None, hint: str = ""
) -> FrameError:
    """The lasting form of `error`, which is to be dropped afterwards: its stack frames are cleared.

    An exception that a stack frame of its own traceback refers to (`raise error` from a local
    variable) is a reference cycle; it would keep the model's input until the garbage collector
    runs. `handled` is what the caller was handling already (`sys.exception()` before): it became
    the context of `error`, but is the caller's own and stays whole.
    """
    lasting = FrameError(frame, hint + _cause(error), _where(error))
    _clear_frames(error, handled)
    return lasting


def describe_frame(frame: object) -> str:
    """Name whatever was submitted as a frame, even if it is none."""
    try:
        parts = [getattr(frame, name, "?") for name in ("width", "height", "format", "pts")]
        return _shorten("{}x{}:{}, pts={}".format(*parts))
    except Exception:  # an object's attributes and their text may raise anything
        return f"({type(frame).__name__})"


def _cause(error: BaseException) -> str:
    try:
        text = str(error).strip()
    except Exception:  # the model's exception class is not ours to trust
        text = "(its text can't be shown)"
    if isinstance(error, UnusableError):
        return _shorten(text)
    name = type(error).__name__
    return _shorten(f"{name}: {text}" if text else name)


def _where(error: BaseException) -> str | None:
    """The innermost place in the model's own code, else in torch below it, else None.

    The model begins where torch first appears in the traceback: its call goes through there.
    """
    place = None
    in_model = in_own_code = False
    for summary in traceback.extract_tb(error.__traceback__):
        in_torch = os.path.abspath(summary.filename).startswith(_TORCH_FOLDER)
        in_model = in_model or in_torch
        if in_model and not (in_torch and in_own_code):
            in_own_code = not in_torch
            place = f"{summary.filename}:{summary.lineno} in {summary.name}"
    return place


def _clear_frames(error: BaseException, handled: BaseException | None) -> None:
    """Empty the finished stack frames of an exception and of those that led to it."""
    seen: list[BaseException | None] = [None, handled]
    todo: list[BaseException | None] = [error]
    while todo:
        link = todo.pop()
        if link is None or any(link is other for other in seen):
            continue
        seen.append(link)
        traceback.clear_frames(link.__traceback__)
        todo += [link.__cause__, link.__context__]


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else text[: _MAX_TEXT - 3] + "..."
