"""The errors that a user can mend, apart from those that are ours, and what was mistyped."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

SETUP = "run `make setup` in its checkout, or install it with pip"
"""how what is missing comes to be there; whoever installed a wheel has no Makefile"""
OUR_PACKAGES = ("backend", "harness")
MOST_NAMES = 12
"""told of those there are, where none is near"""


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


def near(name: str, known: Iterable[str]) -> str | None:
    """The name that was meant by one that there isn't, None if there is none like it.

    Capitals count for nothing, and `_` is as good as `-`.
    """
    names = {_plain(each): each for each in known}
    letters = sorted(_plain(name))
    swapped = [each for each in names if sorted(each) == letters]  # likelier than one left out
    close = swapped or difflib.get_close_matches(_plain(name), names, n=1)
    return names[close[0]] if close else None


def meant(name: str, known: Iterable[str]) -> str:
    """How to mend a name that there isn't: the one like it, else some of those there are."""
    names = list(known)
    if close := near(name, names):
        return f"did you mean {close!r}?"
    if not names:
        return "there are none"
    more = f" and {len(names) - MOST_NAMES:,} more" if len(names) > MOST_NAMES else ""
    return f"choose from {', '.join(names[:MOST_NAMES])}{more}"


def _plain(name: str) -> str:
    return name.lower().replace("_", "-")


class UsageError(Exception):
    """Bad usage or bad input, exit code 2. One line: what is wrong and how to mend it."""
