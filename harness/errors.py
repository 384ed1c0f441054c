"""The errors that a user can mend, apart from those that are ours."""

from __future__ import annotations


class UsageError(Exception):
    """Bad usage or bad input, exit code 2. One line: what is wrong and how to mend it."""
