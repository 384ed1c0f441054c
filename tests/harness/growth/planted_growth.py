"""Backends that keep something for each resolution, and how they differ."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Any

import numpy as np
import torch


class EveryShape:
    """Keeps a tensor for each resolution, without bound."""

    def __init__(self) -> None:
        self._kept: dict[tuple[int, int], torch.Tensor] = {}

    def __call__(self, frame: Any) -> Any:
        size = (frame.width, frame.height)
        if size not in self._kept:
            self._kept[size] = torch.empty(24_000)  # fault: every shape
        return frame


class LastShapes:
    """The same, for the last three alone: what EveryShape should be."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, int], torch.Tensor] = OrderedDict()

    def __call__(self, frame: Any) -> Any:
        size = (frame.width, frame.height)
        if size not in self._kept:
            self._kept[size] = torch.empty(24_000)
        self._kept.move_to_end(size)
        if len(self._kept) > 3:
            self._kept.popitem(last=False)
        return frame


class EveryChange:
    """Keeps a little for each change of resolution, back to a known one too."""

    def __init__(self) -> None:
        self._size: tuple[int, int] | None = None
        self._kept: list[torch.Tensor] = []

    def __call__(self, frame: Any) -> Any:
        size = (frame.width, frame.height)
        if size != self._size:
            self._size = size
            self._kept.append(torch.empty(300))  # fault: every change
        return frame


class View:
    """Keeps a view of an array for each change: of dimensions, numpy has blocks in a list."""

    def __init__(self) -> None:
        self._size: tuple[int, int] | None = None
        self._whole = np.zeros((4, 4, 4), np.uint8)
        self._kept: list[Any] = []

    def __call__(self, frame: Any) -> Any:
        size = (frame.width, frame.height)
        if size != self._size:
            self._size = size
            self._kept.append(self._whole[1:])  # fault: view
        return frame


class Convolution:
    """Naive and right: oneDNN keeps a primitive for each shape, for the process's life."""

    def __init__(self) -> None:
        self._layer = torch.nn.Conv2d(3, 4, 3, padding=1).eval()

    def __call__(self, frame: Any) -> torch.Tensor:
        with torch.no_grad():
            pixels = torch.from_numpy(frame.data).permute(2, 0, 1).unsqueeze(0).float()
            return self._layer(pixels)


class Ring:
    """Keeps copies of the last twenty frames, in a deque whose second block comes when it is full
    and has been for a while."""

    def __init__(self) -> None:
        self._last: deque[Any] = deque(maxlen=20)

    def __call__(self, frame: Any) -> Any:
        self._last.append(frame.data[:1].copy())
        return frame


class EveryTwelfth:
    """Keeps a block on every twelfth frame: in 32 steps twice, or three times."""

    def __init__(self) -> None:
        self._frames = 0
        self._kept: list[Any] = [None] * 100

    def __call__(self, frame: Any) -> Any:
        self._frames += 1
        if self._frames % 12 == 0:
            self._kept[self._frames // 12] = np.empty(2000, np.uint8)  # fault: every twelfth
        return frame


class Doubling:
    """Has room for twice as many whenever it is full, and never forgets any."""

    def __init__(self) -> None:
        self._frames = 0
        self._room = np.empty(1000, np.uint8)

    def __call__(self, frame: Any) -> Any:
        self._frames += 1
        if self._frames & (self._frames - 1) == 0:
            self._room = np.empty(1000 * self._frames, np.uint8)  # fault: doubling
        return frame
