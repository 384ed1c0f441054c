"""The errors that a user can mend, apart from those that are ours."""

from __future__ import annotations


class UsageError(Exception):
    """Bad usage or bad input. Its text is one line: what is wrong and how to mend it. Exit code 2."""
