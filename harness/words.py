"""Numbers with their nouns, for all that is told. Imports nothing: the rules need it too."""

from __future__ import annotations


def plural(count: int, noun: str) -> str:
    """A number with thousands separators and its noun: `1 block`, `1,204 blocks`, `3 stretches`."""
    ending = "" if count == 1 else "es" if noun.endswith("ch") else "s"
    return f"{count:,} {noun}{ending}"
