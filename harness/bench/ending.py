"""How a bench ends: its exit code, and one line for what a person can mend."""

from __future__ import annotations

from collections.abc import Callable

from harness import isolate
from harness.commands.exits import INTERRUPTED, USAGE
from harness.errors import UsageError
from harness.report.console import complain, prepare_streams


def exit_code(holds: Callable[[], bool]) -> int:
    """0 if it holds, 1 if it does not, 2 for bad usage, 130 if it is interrupted."""
    prepare_streams()
    try:
        return int(not holds())
    except UsageError as error:
        complain(str(error))
        return USAGE
    except KeyboardInterrupt:
        isolate.shutdown()
        complain("interrupted")
        return INTERRUPTED
