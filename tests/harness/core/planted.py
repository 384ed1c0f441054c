# ruff: noqa: ARG001 - the signature of a hook is given
"""Small backends with one planted fault each, and the same backend repaired.

Here are those that go wrong while frames run; planted_teardown.py has those that leave something
behind, planted_queues.py those with threads or frames held back. The faulty line of `Name` ends in
the comment `# fault: Name`, so that a test finds its number by searching the file. `NameRepaired`
is its green twin.
"""

from __future__ import annotations

from typing import Any

import torch

PAGE = 4096


class Kept:
    """One tensor kept per frame."""

    def __init__(self) -> None:
        self._kept: list[torch.Tensor] = []

    def __call__(self, frame: Any) -> Any:
        self._kept.append(torch.ones(4))  # fault: Kept
        return frame


class KeptRepaired:
    def __init__(self) -> None:
        self._kept = torch.ones(4)

    def __call__(self, frame: Any) -> Any:
        self._kept.zero_()
        return frame


class Churn:
    """A buffer made for each frame, and freed in the same step."""

    def __call__(self, frame: Any) -> Any:
        buffer = bytearray(frame.data.nbytes)  # fault: Churn
        buffer[0] = 1
        return frame


class GrowOnly:
    """A buffer that grows when a larger frame comes, and at no other time."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def __call__(self, frame: Any) -> Any:
        if len(self._buffer) < frame.data.nbytes:
            self._buffer = bytearray(frame.data.nbytes)
        self._buffer[0] = 1
        return frame


class ChurnRepaired(GrowOnly):
    pass


class View:
    """A view made for each frame: small blocks only, no data."""

    def __init__(self) -> None:
        self._buffer = torch.zeros(4096)

    def __call__(self, frame: Any) -> Any:
        self._buffer.view(64, 64)  # fault: View
        return frame


class ViewRepaired:
    def __init__(self) -> None:
        self._buffer = torch.zeros(4096)
        self._view = self._buffer.view(64, 64)

    def __call__(self, frame: Any) -> Any:
        self._view.zero_()
        return frame


class Shrinks:
    """A buffer that is fitted to each geometry, smaller ones included."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def __call__(self, frame: Any) -> Any:
        if len(self._buffer) != frame.data.nbytes:
            self._buffer = bytearray(frame.data.nbytes)  # fault: Shrinks
        return frame


class ShrinksRepaired(GrowOnly):
    pass


class GrowsLate:
    """A buffer that is not large enough at once: it grows on the third frame of a size."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._frames = 0

    def __call__(self, frame: Any) -> Any:
        self._frames += 1
        if self._frames == 3:
            self._buffer = bytearray(3 * PAGE)  # fault: GrowsLate
        return frame


class GrowsLateRepaired:
    def __init__(self) -> None:
        self._buffer = bytearray(3 * PAGE)

    def __call__(self, frame: Any) -> Any:
        return frame


class Slot:
    """A slot that each cycle overwrites: no fault."""

    last: bytearray | None = None

    def __init__(self) -> None:
        Slot.last = bytearray(5000)

    def __call__(self, frame: Any) -> Any:
        return frame


class SeldomLeak:
    """600 bytes lost on each 50th frame, and not even given back when it is closed."""

    lost: list[bytes] = [b""] * 1000

    def __init__(self) -> None:
        self._frames = 0

    def __call__(self, frame: Any) -> Any:
        self._frames += 1
        if self._frames % 50 == 0:
            self.lost[self.lost.index(b"")] = bytes(600)  # fault: SeldomLeak
        return frame


class SeldomLeakRepaired:
    def __call__(self, frame: Any) -> Any:
        return frame


class KeepsInput:
    """Keeps the frames that it is given: what grows is the memory of the source."""

    def __init__(self) -> None:
        self._frames: list[Any] = [None] * 1000
        self._count = 0

    def __call__(self, frame: Any) -> Any:
        self._frames[self._count] = frame
        self._count += 1
        return frame


class KeepsInputRepaired(KeepsInput):
    def __call__(self, frame: Any) -> Any:
        self._frames[0] = frame
        return frame


class _Doubles(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + x  # the model's


class OwnsModel:
    """A model with a forward that allocates; the backend itself allocates nothing."""

    def __init__(self) -> None:
        self._model = _Doubles()
        self._input = torch.zeros(256)

    def __call__(self, frame: Any) -> Any:
        self._model(self._input)
        return frame


class CallsBack(OwnsModel):
    """Code of the backend that a model calls is below the model."""

    def __init__(self) -> None:
        super().__init__()
        self._model.register_forward_hook(_hook)


def _hook(module: Any, inputs: Any, output: torch.Tensor) -> torch.Tensor:
    return output.clone()  # called back
