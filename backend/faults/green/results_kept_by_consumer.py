"""A pool of results that grows when the consumer has more of them at once: in a burst."""

from __future__ import annotations

from backend.faults.fault import Green
from backend.reference import TorchBackend


class Backend(TorchBackend):
    """The reference backend, in sync mode."""

    def __init__(self) -> None:
        super().__init__("identity")


GREEN = Green(
    about="a pool of results that grows because the consumer keeps them",
    workload="32x32@25*12,32x32@250*60,32x32@25*12",
    backend=Backend,
)
