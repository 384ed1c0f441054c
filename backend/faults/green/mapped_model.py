"""A model file that is mapped, and unmapped by close."""

from __future__ import annotations

import mmap
from pathlib import Path

from backend.faults.fault import Green
from backend.frame import Frame


class Backend:
    """Reads its weights through the mapping."""

    def __init__(self) -> None:
        with Path(__file__).open("rb") as model:
            self._model = mmap.mmap(model.fileno(), 0, prot=mmap.PROT_READ)
        self._at = 0

    def __call__(self, frame: Frame) -> Frame:
        self._at = (self._at + self._model[self._at]) % len(self._model)
        return frame

    def close(self) -> None:
        """Let go of the model."""
        self._model.close()


GREEN = Green(about="a model file that is mapped", workload="32x32@25*24", backend=Backend)
