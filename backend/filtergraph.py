"""The text of a filter graph, as ffmpeg takes it: `scale=320:180,hflip`, `split[a][b];[a]...`.

Grammar and escaping after FFmpeg's documentation of libavfilter, "Filtergraph syntax": filters are
joined by commas to chains, chains by semicolons; labels in brackets name the pads that are linked;
`'...'` and a backslash take the special meaning from what follows, once here and once more in
the filter's own options.
"""

from __future__ import annotations

from dataclasses import dataclass

_WHITE = " \t\r\n"


@dataclass(frozen=True, slots=True)
class FilterText:
    """One filter of a graph."""

    name: str
    arguments: str
    """as the filter takes them; empty if none"""
    inputs: tuple[str, ...]
    """labels before its name"""
    outputs: tuple[str, ...]
    """labels after its arguments"""
    follows: bool
    """whether its first unlabelled input is the output of the filter before"""


def parse(text: str) -> list[FilterText]:
    """The filters in the order of the text. Raises ValueError with what is wrong, and where."""
    reader = _Reader(text)
    filters = []
    follows = False
    while True:
        inputs = reader.labels()
        name = reader.token("=,;[")
        if not name:
            raise ValueError(f"the filter graph {text!r} lacks a filter at {reader.rest!r}")
        arguments = reader.token("[],;") if reader.took("=") else ""
        filters.append(FilterText(name, arguments, inputs, reader.labels(), follows))
        if reader.at_end:
            return filters
        follows = reader.took(",")
        if not follows and not reader.took(";"):
            raise ValueError(f"the filter graph {text!r} goes on with {reader.rest!r}")


class _Reader:
    """Reads tokens from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._skip()

    @property
    def rest(self) -> str:
        """What was not read yet."""
        return self._text[self._at :]

    @property
    def at_end(self) -> bool:
        """Whether nothing is left."""
        return self._at == len(self._text)

    def took(self, character: str) -> bool:
        """Go past this character if it comes next."""
        if not self.rest.startswith(character):
            return False
        self._at += 1
        self._skip()
        return True

    def labels(self) -> tuple[str, ...]:
        """Any number of `[label]`."""
        labels = []
        while self.took("["):
            label = self.token("]")
            if not label or not self.took("]"):
                raise ValueError(f"the filter graph {self._text!r} has a label without an end")
            labels.append(label)
        return tuple(labels)

    def token(self, ends: str) -> str:
        """Text up to one of these characters, without escapes and the white space around it."""
        token, kept = "", 0
        while not self.at_end and (character := self._text[self._at]) not in ends:
            self._at += 1
            if character == "\\" and not self.at_end:
                token += self._text[self._at]
                self._at += 1
                kept = len(token)
            elif character == "'":
                end = self._text.find("'", self._at)
                if end < 0:
                    raise ValueError(f"the filter graph {self._text!r} has a quote without an end")
                token += self._text[self._at : end]
                self._at = end + 1
                kept = len(token)
            else:
                token += character
        return token[:kept] + token[kept:].rstrip(_WHITE)

    def _skip(self) -> None:
        while not self.at_end and self._text[self._at] in _WHITE:
            self._at += 1
