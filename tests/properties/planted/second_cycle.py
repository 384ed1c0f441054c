"""Leaves a block behind when the second instance in a process is opened, and at no other time."""

from __future__ import annotations

import torch

from backend.reference import TorchBackend

_opened = 0
_left: list[torch.Tensor] = []


class Faulty(TorchBackend):
    """Registers itself anew because it finds itself registered."""

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]
        global _opened
        _opened += 1
        if _opened == 2:
            _left.append(torch.empty(1000))  # fault: second cycle


class Repaired(TorchBackend):
    """Registers nothing."""
