"""Kinds of value that arguments have: each reads a text, or says what is wrong with it."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from collections.abc import Callable
from pathlib import Path

from harness.names import METHODS


def file(text: str) -> Path:
    """The name of a file."""
    if not text or "\0" in text:
        raise ArgumentTypeError("the name of a file is missing")
    return Path(text)


def at_least(least: int) -> Callable[[str], int]:
    """A whole number from `least` on."""

    def whole(text: str) -> int:
        if not re.fullmatch(r"\d{1,18}", text, re.ASCII) or int(text) < least:
            raise ArgumentTypeError(f"{text!r} is not a whole number of {least} or more")
        return int(text)

    return whole


def seconds(text: str) -> float:
    """A time above 0."""
    return _positive(text, "seconds")


def frames_per_second(text: str) -> float:
    """A frame rate above 0."""
    return _positive(text, "frames per second")


def _positive(text: str, of_what: str) -> float:
    value = _value(text)
    if isinstance(value, (bool, str)) or not 0 < value < float("inf"):
        raise ArgumentTypeError(f"{text!r} is not a number of {of_what} above 0")
    return float(value)


def size(text: str) -> int:
    """A number of bytes, with K, M or G after it for powers of 1024."""
    match = re.fullmatch(r"(\d{1,15})([KMG]?)", text, re.ASCII | re.IGNORECASE)
    if not match or not int(match[1]):
        raise ArgumentTypeError(f"{text!r} is not a number of bytes, such as 512M")
    return int(match[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[match[2].upper()]


def keyword(text: str) -> tuple[str, int | float | bool | str]:
    """KEY=VALUE for a factory."""
    key, equals, value = text.partition("=")
    if not equals or not key.isidentifier():
        raise ArgumentTypeError(f"{text!r} is not KEY=VALUE with a Python name as its KEY")
    return key, _value(value)


def _value(text: str) -> int | float | bool | str:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    # Not just int() and float(): they also take 1_0, nan and infinity, which are more likely names.
    if re.fullmatch(r"[+-]?\d{1,18}", text, re.ASCII):
        return int(text)
    if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", text, re.ASCII | re.IGNORECASE):
        return float(text)
    return text


def method(text: str) -> tuple[str, str]:
    """METHOD=NAME: the name that a backend has for one of the protocol's methods."""
    its, equals, name = text.partition("=")
    if not equals or its not in METHODS or not name.isidentifier():
        raise ArgumentTypeError(
            f"{text!r} is not METHOD=NAME, where METHOD is one of {', '.join(METHODS)}"
        )
    return its, name


def owner(text: str) -> tuple[str, str]:
    """NAME=GLOB, an entry of the list of owners."""
    name, equals, glob = text.partition("=")
    if not equals or not name or not glob:
        raise ArgumentTypeError(f"{text!r} is not NAME=GLOB, such as backend=*/mypackage/*.py")
    return name, glob
