"""What came back from a backend, one fixed-size row per event, in a file that is mapped beforehand.

Written in the measured process, where a row costs no memory that stays; read by the parent, even
from a child that crashed. Rows are in groups (cycles, or passes), each with room for so many; what
doesn't fit is counted.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple

from harness.digest import DIGEST_BYTES, digest
from harness.flight import map_file

_TEXT_BYTES = 208
_ROW = struct.Struct(f"<BBxxi q {DIGEST_BYTES}s {DIGEST_BYTES}s {_TEXT_BYTES}s")
_HEAD = struct.Struct("<qq")
_COUNT = struct.Struct("<q")


class Event(IntEnum):
    """What a row says."""

    RESULT = 1
    INCOMPARABLE = 2
    """a result that can't be compared; the text says why"""
    ERROR = 3
    """get_result raised"""
    REFUSED = 4
    """execute raised"""
    FLUSH_ERROR = 5
    CLOSE_ERROR = 6
    NONE = 7
    """no result came for this frame"""
    UNREADABLE = 8
    """a result whose data raises; the text says what"""
    SECOND_CLOSE_ERROR = 9


RESULTS = frozenset({Event.RESULT, Event.INCOMPARABLE, Event.UNREADABLE})
"""a result came, whatever can be made of it"""


class Row(NamedTuple):
    """One event."""

    event: Event
    frame: int
    """the one that it is about, as far as the writer knows; else -1"""
    pts: int | None
    structure: bytes
    content: bytes
    text: str
    """structure of the result, why it can't be compared, or what was raised"""

    @property
    def key(self) -> tuple[bytes, bytes]:
        """Equal for equal results, whatever their pts."""
        return self.structure, self.content


@dataclass(frozen=True, slots=True)
class Group:
    """The rows of one cycle or pass."""

    rows: list[Row]
    count: int
    """events, including those that found no room"""


class ResultLog:
    """Writes rows. The groups are begun one after another, with `begin`."""

    def __init__(self, path: Path, groups: int, room: int) -> None:
        self._room = room
        self._map = map_file(path, _HEAD.size + groups * (_COUNT.size + room * _ROW.size))
        _HEAD.pack_into(self._map, 0, groups, room)
        self.begin(0)
        self.capture: tuple[int, Callable[[Any], None]] | None = None
        """a number of a row, and what is called with each array of that row's result"""

    def begin(self, group: int) -> None:
        """Write into this group, from 0, from now on, and anew."""
        self._start = _HEAD.size + group * (_COUNT.size + self._room * _ROW.size)
        self._count = 0
        _COUNT.pack_into(self._map, self._start, 0)

    def result(self, result: Any, frame: int = -1) -> None:
        """A result came back."""
        capture = self.capture
        leaf = capture[1] if capture is not None and capture[0] == self._count else None
        made = digest(result, leaf)
        unlike = Event.INCOMPARABLE if made.readable else Event.UNREADABLE
        event = Event.RESULT if made.comparable else unlike
        self._write(event, frame, made.pts, made.structure, made.content, made.text)

    def raised(self, event: Event, error: BaseException, frame: int) -> None:
        """Something raised."""
        self._write(event, frame, None, b"", b"", name_and_text(error))

    def none(self, frame: int) -> None:
        """Nothing came back for this frame."""
        self._write(Event.NONE, frame, None, b"", b"", "")

    def _write(
        self,
        event: Event,
        frame: int,
        pts: int | None,
        structure: bytes,
        content: bytes,
        text: str,
    ) -> None:
        if self._count < self._room:
            _ROW.pack_into(
                self._map,
                self._start + _COUNT.size + self._count * _ROW.size,
                event,
                pts is not None,
                frame,
                pts or 0,
                structure,
                content,
                text.encode("utf-8", "replace")[:_TEXT_BYTES],
            )
        self._count += 1
        _COUNT.pack_into(self._map, self._start, self._count)


def read_log(path: Path) -> list[Group]:
    """The groups that a child wrote; none if it wrote no log."""
    if not path.exists():
        return []
    data = path.read_bytes()
    groups, room = _HEAD.unpack_from(data)
    return [
        _read_group(data, _HEAD.size + number * (_COUNT.size + room * _ROW.size), room)
        for number in range(groups)
    ]


def _read_group(data: bytes, start: int, room: int) -> Group:
    (count,) = _COUNT.unpack_from(data, start)
    rows = []
    for number in range(min(count, room)):
        at = start + _COUNT.size + number * _ROW.size
        event, has_pts, frame, pts, structure, content, text = _ROW.unpack_from(data, at)
        words = text.rstrip(b"\0").decode("utf-8", "replace")
        rows.append(Row(Event(event), frame, pts if has_pts else None, structure, content, words))
    return Group(rows, count)


def name_and_text(error: BaseException) -> str:
    """An exception in one line."""
    name = type(error).__name__
    try:
        first = (str(error).splitlines() or [""])[0]
    except Exception:  # the backend's exception class is not ours to trust
        first = "(it has no text: its __str__ raised)"
    return f"{name}: {first}" if first else name
