"""What the property tests draw: how a backend is opened, and workloads small enough to be quick."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from harness.strategies import PATTERNS, workloads
from harness.workload import Workload

FORMATS: dict[str, tuple[str, ...]] = {
    "identity": ("rgb24", "gray8", "bgr24", "grayf32"),
    "delay": ("rgb24", "gray8", "bgr24", "grayf32"),
    "small": ("rgb24", "bgr24"),
    "espcn": ("gray8", "grayf32"),
}
"""by model, its natural format first"""
MAX_FRAMES = 40
MAX_PIXELS = 2**12
BATCH = 8
"""workloads of one process at most"""


def modes() -> st.SearchStrategy[dict[str, Any]]:
    """Options of the reference backend: sync, or async with one to five requests."""
    return st.just({"mode": "sync"}) | st.integers(1, 5).map(
        lambda nireq: {"mode": "async", "nireq": nireq}
    )


def streams(
    formats: Sequence[str | None] = (None,), patterns: Sequence[str] = PATTERNS
) -> st.SearchStrategy[Workload]:
    """One workload."""
    return workloads(
        max_frames=MAX_FRAMES, max_pixels=MAX_PIXELS, formats=formats, patterns=patterns
    )


def batches(formats: Sequence[str | None] = (None,)) -> st.SearchStrategy[list[Workload]]:
    """Workloads that share a process; what fails shrinks to one."""
    return st.lists(streams(formats), min_size=1, max_size=BATCH)
