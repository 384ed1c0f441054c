"""What a backend may do when an operation fails, and what it did: a pure function of its events.

One failure may cost the frames in hand at that moment: those submitted and not yet returned, that
of the call included. One of them may end in any clear exception; where several share an operation,
as in a batch, the others in one that tells the failure. Every other frame is served as if nothing
had been. While failures last, every frame from then on may raise, and none may be wrong or lost.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from harness.inject.points import NO_THREAD, Break, Place
from harness.result_log import RESULTS, Event, Row

KINDS = {
    "hang": "it hangs",
    "busy": "its threads do not come to rest",
    "crash": "the process dies",
    "wrong-result": "a result that looks good is wrong",
    "frame-lost": "a frame has neither a result nor an exception",
    "good-frame-failed": "a frame that was not in hand fails too",
    "extra-event": "more comes out than went in",
    "wrong-exception": "what is raised does not say what failed",
    "flush-error": "flush raises for a failure that is over",
    "not-closable": "close does not succeed, though nothing fails any more",
    "leak": "something is left behind each time",
    "taints": "what breaks is a later instance in the same process",
}
"""in words, by kind of break"""
TRIES = 3
"""calls of close, or of flush, until the first that does not raise"""

_SIGNS = (
    "can't allocate memory",
    "Unable to allocate",
    NO_THREAD,
    # of which more than this is not told if the failure was raised in Python
    "operation failed in the TorchScript interpreter",
)
"""as torch, numpy and Python say what failed"""
_BLUNDER = re.compile(
    r"\b(AttributeError|NameError|UnboundLocalError|AssertionError|IndexError|KeyError|TypeError"
    r"|RecursionError|SystemError|ReferenceError|UsageError)\b"
)
"""exceptions of a mistake in a program, which say nothing of a lack of memory"""


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of one frame."""

    frame: int
    """-1 for an event that is no frame's"""
    event: str
    """right, wrong, raised, lost or extra"""
    text: str = ""
    tells: bool = False
    """the exception says what failed"""


def mark_of(row: Row) -> str | None:
    """A text that equal results have in common; None for a result that can't be compared."""
    if row.event != Event.RESULT:
        return None
    return f"{row.structure.hex()}:{row.content.hex()}:{row.pts}"


def tells(error: BaseException) -> bool:
    """Whether an exception, or one that it was raised from, says what failed."""
    link: BaseException | None = error
    for _ in range(16):  # a chain may be a ring
        if link is None:
            return False
        if isinstance(link, MemoryError) or any(sign in _text(link) for sign in _SIGNS):
            return True
        link = link.__cause__
    return False


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # the backend's exception class is not ours to trust
        return ""


def taints(breaks: Sequence[Break], when: str) -> tuple[Break, ...]:
    """The break of a point after which another instance does not do what it should."""
    first = breaks[0]
    return (Break("taints", f"{when}, {first.kind}: {first.text}", first.frame),)


def is_blunder(text: str) -> bool:
    """Whether an exception is one of a mistake in a program, itself or by what it quotes."""
    return bool(_BLUNDER.search(text))


def judge(
    due: Sequence[str | None],
    frames: int,
    rows: Sequence[Row],
    telling: Collection[int],
    fired: Place,
    *,
    lasting: bool,
    stateful: bool,
) -> tuple[Break, ...]:
    """What was not as it must be.

    `due` are the marks of the results without a failure, one for each of the `frames`, or else
    nothing but that each result is one of these can be asked; `telling` are the numbers of the
    rows whose exception tells the failure; `fired` is where the run was then. Results of a backend
    that keeps state are, from the frames in hand on, held against the structure that is due alone.
    """
    found: list[Break] = []
    if len(due) == frames:
        hand = range(fired.returned, fired.frame + 1)
        shaped = _shapes(due, fired.returned) if stateful else due
        fates = list(_fates(shaped, rows, telling, _shape_from(fired.returned, stateful)))
        found += _judge_frames(fates, hand, _flush_errors(rows), lasting=lasting)
    elif not stateful:
        known = {*due, None}
        wrong = (row for row in rows if row.event == Event.RESULT and mark_of(row) not in known)
        found += [Break("wrong-result", f"it is {row.text}", row.frame) for row in wrong]
    return (*found, *_judge_ends(rows, telling, fired, lasting=lasting))


def _shapes(due: Sequence[str | None], first: int) -> list[str | None]:
    return [mark and mark.partition(":")[0] if n >= first else mark for n, mark in enumerate(due)]


def _shape_from(first: int, stateful: bool) -> float:
    return first if stateful else float("inf")


def _flush_errors(rows: Sequence[Row]) -> int:
    return sum(row.event == Event.FLUSH_ERROR for row in rows)


def _fates(
    due: Sequence[str | None], rows: Sequence[Row], telling: Collection[int], shape_from: float
) -> Iterator[Fate]:
    """Lay what came beside what was due."""
    refused = {row.frame: n for n, row in enumerate(rows) if row.event == Event.REFUSED}
    owed = [frame for frame in range(len(due)) if frame not in refused]
    came = [n for n, row in enumerate(rows) if row.event in RESULTS or row.event == Event.ERROR]
    for frame, n in refused.items():
        yield Fate(frame, "raised", rows[n].text, n in telling)
    for frame, number in _pairs(due, owed, rows, came, shape_from):
        if number is None:
            yield Fate(frame, "lost")
            continue
        row = rows[number]
        if frame < 0:
            yield Fate(frame, "extra", row.text)
        elif row.event == Event.ERROR:
            yield Fate(frame, "raised", row.text, number in telling)
        else:
            right = due[frame] in (None, _mark(row, frame, shape_from))
            yield Fate(frame, "right" if right or mark_of(row) is None else "wrong", row.text)


def _mark(row: Row, frame: int, shape_from: float) -> str | None:
    mark = mark_of(row)
    return mark and mark.partition(":")[0] if frame >= shape_from else mark


def _pairs(
    due: Sequence[str | None],
    owed: Sequence[int],
    rows: Sequence[Row],
    came: Sequence[int],
    shape_from: float,
) -> Iterator[tuple[int, int | None]]:
    """(frame or -1, number of its row or None) for all that was owed, and all that came."""
    if len(owed) == len(came):
        yield from zip(owed, came, strict=True)
        return
    marks = [due[frame] for frame in owed]
    events = [
        f"raised {n}" if rows[n].event == Event.ERROR else _mark(rows[n], owed[-1], shape_from)
        for n in came
    ] if owed else [None] * len(came)  # fmt: skip
    for _, a, a_end, b, b_end in SequenceMatcher(None, marks, events, False).get_opcodes():
        both = min(a_end - a, b_end - b)
        yield from zip(owed[a : a + both], came[b : b + both], strict=True)
        yield from ((frame, None) for frame in owed[a + both : a_end])
        yield from ((-1, number) for number in came[b + both : b_end])


def _judge_frames(
    fates: Sequence[Fate], hand: range, flush_errors: int, *, lasting: bool
) -> Iterator[Break]:
    excused, lost = 0, 0
    for fate in sorted(fates, key=lambda fate: fate.frame):
        frame = fate.frame
        may_fail = frame in hand or (lasting and frame >= hand.start)
        if fate.event == "wrong":
            yield Break("wrong-result", f"frame {frame}: {fate.text}, with other values", frame)
        elif fate.event == "extra":
            yield Break("extra-event", f"after all frames had theirs came {fate.text}")
        elif fate.event == "lost":
            lost += 1
            # A flush that raises speaks for a frame that it was to finish; all, while it lasts.
            if not (may_fail and (lost <= flush_errors or (lasting and flush_errors))):
                yield Break("frame-lost", f"frame {frame}", frame)
        elif fate.event == "raised":
            if not may_fail or (not lasting and excused and not fate.tells):
                yield Break("good-frame-failed", f"frame {frame}: {fate.text}", frame)
            elif not fate.tells and is_blunder(fate.text):
                yield Break("wrong-exception", f"frame {frame}: {fate.text}", frame)
            excused += 1


def _judge_ends(
    rows: Sequence[Row], telling: Collection[int], fired: Place, *, lasting: bool
) -> Iterator[Break]:
    """What flush and close raised. Either may raise what failed, but must succeed when it is over.

    A close that fails in the middle is called again: it must not have forgotten what was left.
    """
    for event, phase in ((Event.FLUSH_ERROR, "flush"), (Event.CLOSE_ERROR, "close")):
        raised = [(n in telling, row.text) for n, row in enumerate(rows) if row.event == event]
        if phase == "close" and len(raised) == TRIES:
            yield Break("not-closable", f"call {TRIES} of close raised {raised[-1][1]}")
        elif phase == "flush" and len(raised) == TRIES and not lasting:
            yield Break("flush-error", f"call {TRIES} of flush raised {raised[-1][1]}")
        for told, text in raised[:1]:
            if not told and (is_blunder(text) or fired.phase not in (phase, "execute")):
                yield Break("wrong-exception", f"{phase} raised {text}")
