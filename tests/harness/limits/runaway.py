# ruff: noqa: ARG002 - signatures are given
"""Backends that take more and more, each in its own way and phase."""

from __future__ import annotations

import ctypes
import os
from typing import Any

import torch

MEBIBYTE = 1 << 20
_libc = ctypes.CDLL(None)
_libc.malloc.restype = ctypes.c_void_p
_libc.malloc.argtypes = [ctypes.c_size_t]


class Small:
    """A buffer of 16 MiB, and no more: within any limit of these tests."""

    def __init__(self) -> None:
        self._buffer = bytearray(16 * MEBIBYTE)

    def __call__(self, frame: Any) -> Any:
        return frame


class InExecute(Small):
    """Takes 64 MiB with each frame."""

    def __init__(self) -> None:
        super().__init__()
        self._kept: list[Any] = []

    def __call__(self, frame: Any) -> Any:
        self._kept.append(bytearray(64 * MEBIBYTE))
        return frame


class InOpen(Small):
    def __init__(self) -> None:
        super().__init__()
        self._kept = [bytearray(64 * MEBIBYTE) for _ in range(1000)]


class InTorch(InExecute):
    def __call__(self, frame: Any) -> Any:
        self._kept.append(torch.empty(64 * MEBIBYTE, dtype=torch.uint8))
        return frame


class InSmallPieces(InExecute):
    """Fills the last kibibyte, so that not even a word can be said without more."""

    def __call__(self, frame: Any) -> Any:
        while True:
            self._kept.append(bytes(1000))


class Aborts(InExecute):
    """As C++ does when nobody catches its bad_alloc."""

    def __call__(self, frame: Any) -> Any:
        while _libc.malloc(64 * MEBIBYTE):
            pass
        os.write(2, b"terminate called after throwing an instance of 'std::bad_alloc'\n")
        os.abort()
