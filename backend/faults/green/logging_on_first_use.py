"""A logger, and a warning that is shown once: both leave something in the process's tables."""

from __future__ import annotations

import logging
import warnings

from backend.faults.fault import Green
from backend.frame import Frame


class Backend:
    """Says something when it first meets a size."""

    def __init__(self) -> None:
        self._logger = logging.getLogger(f"{__name__}.backend")
        self._width = 0

    def __call__(self, frame: Frame) -> Frame:
        if frame.width != self._width:
            self._width = frame.width
            self._logger.info("frames are %d wide now", frame.width)
            warnings.warn("this backend is an example", UserWarning, stacklevel=1)
        return frame


GREEN = Green(
    about="logging and warnings on first use",
    workload="32x32@25*12,40x32@25*12,32x32@25*12",
    backend=Backend,
)
