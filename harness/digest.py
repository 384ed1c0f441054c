"""An exact digest of a result: equal results have equal digests, bit for bit.

What is comparable: an array, a tensor, bytes, an object whose `data` is one of these (a frame), and
a list, tuple or dict of comparable things and of plain numbers and texts, nested. A digest leaves
no memory behind: it is taken between two samples of the heap.
"""

from __future__ import annotations

import hashlib
import struct
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

DIGEST_BYTES = 16
_DEEPEST = 16
"""levels of nesting; what is deeper contains itself, most often"""
_FRAME_FIELDS = ("format", "width", "height")
_SCALARS = (bool, int, float, complex, str, bytes, type(None))
_NOTHING = b"\0" * DIGEST_BYTES


class NoneReturned:
    """Stands for what a function returned that returned None: to `get_result` that is no result."""


class Digest(NamedTuple):
    """What a result is, in short."""

    text: str
    """its structure for people: "frame rgb24 64x48 of uint8 (48, 64, 3)"; or, if it isn't
    comparable, why"""
    structure: bytes
    """hash of types, shapes, format, width and height"""
    content: bytes
    """hash of the values"""
    pts: int | None
    """of a frame that has one as a whole number"""
    comparable: bool = True
    readable: bool = True
    """False if its data raises: nobody can use it"""


class IncomparableError(Exception):
    """The result holds something that has no value to compare. The text says what."""


class UnreadableError(IncomparableError):
    """The data of the result raises."""


Leaf = Callable[[np.ndarray[Any, Any]], None]


def digest(result: Any, leaf: Leaf | None = None) -> Digest:
    """The digest of a result. `leaf`, if given, is called with every array in it, in order."""
    content = hashlib.blake2b(digest_size=DIGEST_BYTES)
    try:
        if isinstance(result, _SCALARS) and not isinstance(result, bytes):
            raise IncomparableError(_unknown(result))
        text = _Visit(content, leaf).describe(result, 0)
    except IncomparableError as error:
        readable = not isinstance(error, UnreadableError)
        return Digest(str(error), _NOTHING, _NOTHING, None, comparable=False, readable=readable)
    except Exception as error:  # attributes and methods of a result are not ours to trust
        why = f"a result that raises {type(error).__name__} when it is read"
        return Digest(why, _NOTHING, _NOTHING, None, comparable=False)
    structure = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=DIGEST_BYTES)
    return Digest(text, structure.digest(), content.digest(), _pts(result))


class _Visit:
    """One walk through a result."""

    __slots__ = ("_content", "_leaf")

    def __init__(self, content: hashlib.blake2b, leaf: Leaf | None) -> None:
        self._content = content
        self._leaf = leaf

    def describe(self, value: Any, depth: int) -> str:
        """Hash the value's content and return its structure as text."""
        if depth > _DEEPEST:
            raise IncomparableError("a result that is nested too deeply, or contains itself")
        if isinstance(value, (np.ndarray, np.generic)):
            return self._array(np.asarray(value))
        if is_tensor(value):
            return self._tensor(value)
        if isinstance(value, (bytearray, memoryview)):
            return f"bytes {self._bytes(np.frombuffer(value, np.uint8))}"
        if isinstance(value, _SCALARS):
            return self._scalar(value)
        if isinstance(value, (list, tuple)):
            parts = [self.describe(part, depth + 1) for part in value]
            return f"{type(value).__name__} ({', '.join(parts)})"
        if isinstance(value, dict):
            return self._dict(value, depth)
        return self._object(value, depth)

    def _array(self, array: np.ndarray[Any, Any]) -> str:
        if array.dtype.hasobject:
            raise IncomparableError("an array of Python objects")
        self._bytes(array)
        return f"{array.dtype.str if not array.dtype.isnative else array.dtype} {array.shape}"

    def _bytes(self, array: np.ndarray[Any, Any]) -> int:
        if self._leaf is not None:
            self._leaf(array)
        flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        self._content.update(struct.pack("<q", flat.size))
        self._content.update(flat.data)
        return flat.size

    def _tensor(self, tensor: Any) -> str:
        import torch

        if tensor.layout != torch.strided or tensor.is_nested:
            raise IncomparableError(f"a tensor with layout {str(tensor.layout).split('.')[-1]}")
        if tensor.is_quantized or tensor.is_meta:
            raise IncomparableError(f"a {'quantized' if tensor.is_quantized else 'meta'} tensor")
        plain = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
        name = str(plain.dtype).removeprefix("torch.")
        try:
            array = plain.numpy()
        except TypeError:  # numpy has no such type, such as bfloat16: its bytes do
            array = plain.reshape(-1).view(torch.uint8).numpy()
        self._bytes(array)
        return f"tensor {name} {tuple(plain.shape)}"

    def _scalar(self, value: Any) -> str:
        if isinstance(value, float):  # bitwise, as for NaN in an array
            coded = struct.pack("<d", value)
        else:
            coded = value if isinstance(value, bytes) else repr(value).encode("utf-8", "replace")
        self._content.update(struct.pack("<q", len(coded)))
        self._content.update(coded)
        return type(value).__name__

    def _dict(self, value: dict[Any, Any], depth: int) -> str:
        if not all(isinstance(key, _SCALARS) for key in value):
            raise IncomparableError("a dict with keys that are neither numbers nor texts")
        parts = [
            f"{key!r}: {self.describe(value[key], depth + 1)}" for key in sorted(value, key=repr)
        ]
        return f"{type(value).__name__} ({', '.join(parts)})"

    def _object(self, value: Any, depth: int) -> str:
        try:
            data = getattr(value, "data", None)
        except Exception as error:
            raise UnreadableError(f"a result whose data raises {type(error).__name__}") from None
        if data is None or callable(data):
            raise IncomparableError(_unknown(value))
        fields = [getattr(value, name, None) for name in _FRAME_FIELDS]
        # One attribute of an odd type, such as an object that stands for a format, has no value
        # that a second process would give again.
        shown = ["?" if not isinstance(field, (int, str)) else str(field) for field in fields]
        inner = self.describe(data, depth + 1)
        if shown == ["?", "?", "?"]:
            return f"{type(value).__name__} of {inner}"
        return f"{type(value).__name__} {shown[0]} {shown[1]}x{shown[2]} of {inner}"


def is_tensor(value: Any) -> bool:
    """Whether it is a torch tensor, without importing torch if nobody has."""
    torch = sys.modules.get("torch")
    kind = getattr(torch, "Tensor", None)
    return kind is not None and isinstance(value, kind)


def _pts(result: Any) -> int | None:
    if isinstance(result, (np.ndarray, np.generic, list, tuple, dict)) or is_tensor(result):
        return None
    pts = getattr(result, "pts", None)
    whole = isinstance(pts, int) and not isinstance(pts, bool) and -(2**62) < pts < 2**62
    return pts if whole else None


def _unknown(value: Any) -> str:
    kind = type(value)
    if kind is NoneReturned:
        return "None, which the function returned (is a `return` missing?),"
    return f"a result of type {kind.__module__}.{kind.__qualname__}".replace("builtins.", "")
