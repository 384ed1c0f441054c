"""What a child can be asked to do with a backend: one instrument per file.

Each is a function of a `Setting` that drives the backend and leaves what it saw in the run's folder
and in the outcome. They run in the measured process; the parent reads what they leave.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.instruments import (
    batch,
    burst,
    errors,
    inject,
    lines,
    narrow,
    reference,
    screening,
    tracing,
)
from harness.instruments.setting import Setting

INSTRUMENTS: dict[str, Callable[[Setting], None]] = {
    "trace": tracing.run,
    "early-close": tracing.run_early_close,
    "screen": screening.run,
    "narrow": narrow.run,
    "objects": narrow.run_objects,
    "lines": lines.run,
    "reference": reference.run,
    "errors": errors.run,
    "burst": burst.run,
    "batch": batch.run,
    "inject": inject.run,
}
"""by the name that `RunSpec.instrument` has"""
