"""The errors that a user can mend, apart from those that are ours."""

from __future__ import annotations

SETUP = "run `make setup` in its checkout, or install it with pip"
"""how what is missing comes to be there; whoever installed a wheel has no Makefile"""
OUR_PACKAGES = ("backend", "harness")


def shadowed(module: str | None) -> str | None:
    """What to do if a module is missing whose package bears the name of one of ours, else None.

    Two packages of one name can't both be imported: either the user's hides ours, or ours the
    user's.
    """
    if module is None or module.partition(".")[0] not in OUR_PACKAGES:
        return None
    name = module.partition(".")[0]
    return (
        f"there is no module {module!r}: `{name}` is a package of steadyframe, too, and only one "
        "of this name can be imported. Call `steadyframe` and not `python -m harness`, and give "
        "your target as a file, path/to/file.py:factory"
    )


class UsageError(Exception):
    """Bad usage or bad input, exit code 2. One line: what is wrong and how to mend it."""
