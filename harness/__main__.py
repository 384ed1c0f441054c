"""`python -m harness`, which is the command `steadyframe`."""

from __future__ import annotations

import sys

from harness.interrupts import held_back


def main() -> int:
    """Run the command and return its exit code."""
    try:
        with held_back():
            from harness import cli
    except KeyboardInterrupt:
        from harness.commands.exits import INTERRUPTED
        from harness.report.console import complain

        complain("interrupted")
        return INTERRUPTED
    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
