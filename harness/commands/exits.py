"""Exit codes."""

from __future__ import annotations

EXIT_CODES = {"pass": 0, "fail": 1, "no-verdict": 3}
USAGE = 2
OUR_BUG = 70
"""sysexits' EX_SOFTWARE: a bug of ours must not look like any verdict"""
INTERRUPTED = 130
