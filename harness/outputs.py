"""What came out of a backend, held against what should have: differences, not yet words.

`compare` is pure. It works on digests: the rows that a screening run left, and those of a reference
run. Which result belongs to which frame is told by their number, if there are as many as there
should be; else by their pts, else by their content, if every result is that of exactly one frame.
Where none of these tells, nothing is compared, and the evidence says why.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from harness.result_log import RESULTS as RESULT_EVENTS
from harness.result_log import Event, Group, Row, read_log
from harness.spec import REPRESENTATIVES, RESULTS

Kind = Literal[
    "wrong-data",
    "wrong-shape",
    "stale-size",
    "other-frame",
    "out-of-order",
    "wrong-pts",
    "missing-result",
    "extra-result",
    "result-count",
    "lost-at-flush",
    "unreadable",
]
Key = tuple[bytes, bytes]
Pair = tuple[int, int, Row]
"""frame, number of the result within its cycle, what the result was"""


@dataclass(frozen=True, slots=True)
class Difference:
    """One result that isn't what it should be."""

    kind: Kind
    cycle: int
    """from 1"""
    frame: int
    """or number of the result, if a serial instance gives more or fewer results than frames"""
    row: int = -1
    """number of the result within its cycle, -1 if there is none"""
    other: int = -1
    """the frame whose result, size or pts it has"""
    got: str = ""
    expected: str = ""


@dataclass(frozen=True, slots=True)
class OutputEvidence:
    """All that the rule `output` needs to know."""

    frames: int
    """frames of the workload; of a serial comparison, results that are due"""
    compared: tuple[int, ...]
    """those that were held against a reference, in whichever cycle"""
    serial: bool = False
    """compared with a second instance, fed one by one, instead of fresh ones"""
    unreadable: tuple[Difference, ...] = ()
    """results whose data raises, whether or not they were due"""
    differences: tuple[Difference, ...] = ()
    unclear: tuple[str, ...] = ()
    """why something was not compared"""
    unreproducible: tuple[int, ...] = ()
    """frames on which two references disagree"""
    serial_agrees: bool = False
    """differs from fresh instances, but not from a serial one: it seems to keep state by design"""
    detail: str = ""
    """of the first wrong result: where it differs, and by how much"""


@dataclass(frozen=True, slots=True)
class Reference:
    """What a reference run left."""

    representatives: Sequence[int]
    """for each frame the one whose rows count for it, -1 if it was not computed"""
    rows: list[Row]
    serial: bool

    @classmethod
    def read(cls, folder: Path, *, serial: bool) -> Reference:
        """Read the files of a reference run, whether or not it came to its end."""
        path = folder / REPRESENTATIVES
        numbers = array("q", path.read_bytes() if path.exists() else b"")
        groups = read_log(folder / RESULTS)
        return cls(numbers, groups[0].rows if groups else [], serial)

    @property
    def complete(self) -> bool:
        """Whether no frame was left out."""
        return all(number >= 0 for number in self.representatives)

    def by_frame(self) -> dict[int, list[Row]]:
        """The rows of each frame that was computed alone."""
        found: dict[int, list[Row]] = defaultdict(list)
        for row in self.rows:
            found[row.frame].append(row)
        return found

    def expected(self) -> list[tuple[int, Row | None]] | str:
        """(frame, its result or None if unknown) for each result that is due, or why not to say."""
        if self.serial:
            unknown = [(n, None) for n in range(len(self.rows), len(self.representatives))]
            return [*enumerate(self.rows), *([] if self.complete else unknown)]
        alone = self.by_frame()
        counts = {sum(row.event != Event.NONE for row in rows) for rows in alone.values()}
        if not self.complete and counts - {1}:
            return "a fresh instance does not give one result for each frame"
        due: list[tuple[int, Row | None]] = []
        for frame, number in enumerate(self.representatives):
            if number < 0 or any(row.event == Event.ERROR for row in alone[number]):
                due.append((frame, None))
            else:
                due += [(frame, row) for row in alone[number] if row.event != Event.NONE]
        return due

    def gives_none(self) -> bool:
        """Whether no frame that was fed alone, and flushed, gave a result."""
        return not self.serial and bool(self.rows) and all(r.event == Event.NONE for r in self.rows)

    def carries_pts(self) -> bool:
        """Whether results have the pts of their frames."""
        results = [row for row in self.rows if row.event in RESULT_EVENTS]
        if self.serial:
            return any(row.pts for row in results)
        return any(row.frame for row in results) and all(row.pts == row.frame for row in results)


def compare(screened: Sequence[Group], reference: Reference) -> OutputEvidence:
    """Hold the results of every cycle of a screening run against a reference run."""
    evidence = OutputEvidence(
        len(reference.representatives), (), reference.serial, tuple(_unreadable(screened))
    )
    if reference.gives_none() and (lost := tuple(_lost(screened, evidence.frames))):
        return replace(evidence, differences=lost)
    due = reference.expected()
    if isinstance(due, str):
        return replace(evidence, unclear=(due,))
    comparison = _Comparison(reference, due)
    for cycle, group in enumerate(screened, start=1):
        comparison.add(cycle, group)
    return replace(
        evidence,
        frames=len(due) if reference.serial else evidence.frames,
        compared=tuple(sorted(comparison.compared)),
        differences=tuple(comparison.differences),
        unclear=tuple(dict.fromkeys([*_errors(reference), *comparison.unclear])),
    )


def _unreadable(screened: Sequence[Group]) -> Iterator[Difference]:
    for cycle, group in enumerate(screened, start=1):
        for number, row in enumerate(group.rows):
            if row.event == Event.UNREADABLE:
                yield Difference("unreadable", cycle, number, number, got=row.text)


def _lost(screened: Sequence[Group], frames: int) -> Iterator[Difference]:
    """The cycles in which every frame has its result, though none has one alone."""
    for cycle, group in enumerate(screened, start=1):
        if group.count == frames:
            yield Difference("lost-at-flush", cycle, 0, got=f"{frames:,}")


def _errors(reference: Reference) -> list[str]:
    return [
        f"a fresh instance raised {row.text} for frame {row.frame}"
        for row in reference.rows
        if row.event == Event.ERROR
    ]


class _Comparison:
    """Goes through the cycles, collecting what differs and what can't be told."""

    def __init__(self, reference: Reference, due: list[tuple[int, Row | None]]) -> None:
        self._reference = reference
        self._due = due
        self._carries_pts = reference.carries_pts()
        # Ascending, as `_nearest` needs them.
        self._frames_of: dict[Key, list[int]] = defaultdict(list)
        self._of_structure: dict[bytes, list[int]] = defaultdict(list)
        for frame, row in due:
            if row is not None and row.event == Event.RESULT:
                self._frames_of[row.key].append(frame)
                self._of_structure[row.structure].append(frame)
        self.differences: list[Difference] = []
        self.unclear: list[str] = []
        self.compared: set[int] = set()
        """frames"""

    def add(self, cycle: int, group: Group) -> None:
        """Compare the results of one cycle."""
        due = self._due
        if group.count == len(due) == len(group.rows):
            found = [
                difference
                for number, ((frame, row), got) in enumerate(zip(due, group.rows, strict=True))
                if (difference := self._judge(cycle, (frame, number, got), row))
            ]
            self.differences += _permuted(found)
            return
        if self._reference.serial and self._reference.complete:
            count = Difference("result-count", cycle, 0, -1, -1, str(group.count), str(len(due)))
            self.differences.append(count)
            return
        pairs = self._by_pts(group) or self._by_content(group)
        if pairs is None:
            self.unclear.append(
                f"{group.count:,} results came of {len(due):,} that were due, and neither pts nor "
                "content tells which frames they are of"
            )
            return
        self._judge_some(cycle, pairs)

    def _judge_some(self, cycle: int, pairs: list[Pair]) -> None:
        """Judge results that are known to be of these frames: not one for each."""
        expected = dict(self._due)
        came: set[int] = set()
        for pair in pairs:
            frame, number, _ = pair
            if frame in came:
                self.differences.append(Difference("extra-result", cycle, frame, number))
            elif difference := self._judge(cycle, pair, expected[frame]):
                self.differences.append(difference)
            came.add(frame)
        self.differences += [
            Difference("missing-result", cycle, frame)
            for frame, row in self._due
            if row is not None and frame not in came
        ]

    def _by_pts(self, group: Group) -> list[Pair] | None:
        numbers = [row.pts for row in group.rows]
        whole = [n for n in numbers if n is not None and 0 <= n < len(self._due)]
        one_each = [frame for frame, _ in self._due] == list(range(len(self._due)))
        told = self._carries_pts and one_each and len(group.rows) == group.count
        if not told or len(whole) < group.count or len(set(whole)) < group.count:
            return None
        return [
            (frame, n, row) for n, (frame, row) in enumerate(zip(whole, group.rows, strict=True))
        ]

    def _by_content(self, group: Group) -> list[Pair] | None:
        """Only if every result is that of exactly one frame, and they are in order."""
        unknown = any(row is None for _, row in self._due)
        if unknown or len(group.rows) < group.count:
            return None
        pairs: list[Pair] = []
        for number, row in enumerate(group.rows):
            frames = self._frames_of.get(row.key, [])
            if row.event != Event.RESULT or len(frames) != 1:
                return None
            if pairs and frames[0] < pairs[-1][0]:
                return None
            pairs.append((frames[0], number, row))
        return pairs

    def _judge(self, cycle: int, pair: Pair, expected: Row | None) -> Difference | None:
        frame, number, got = pair
        if expected is None:
            return None
        for row in (got, expected):
            if row.event != Event.RESULT:
                self.unclear.append(f"{row.text} can't be compared")
                return None
        self.compared.add(frame)
        difference = Difference("wrong-data", cycle, frame, number, -1, got.text, expected.text)
        if got.key != expected.key:
            return self._classify(difference, got, expected)
        due = expected.pts if self._reference.serial else frame
        if self._carries_pts and got.pts != due:
            other = -1 if got.pts is None else got.pts
            return replace(difference, kind="wrong-pts", other=other, expected=str(due))
        return None

    def _classify(self, difference: Difference, got: Row, expected: Row) -> Difference:
        frame = difference.frame
        if same := self._frames_of.get(got.key):
            return replace(difference, kind="other-frame", other=_nearest(frame, same))
        if got.structure == expected.structure:
            return difference
        alike = self._of_structure.get(got.structure, [])
        if before := bisect_left(alike, frame):
            return replace(difference, kind="stale-size", other=alike[before - 1])
        return replace(difference, kind="wrong-shape")


def _nearest(frame: int, candidates: Sequence[int]) -> int:
    """The one of ascending candidates that is closest to a frame, the earlier of two."""
    at = bisect_left(candidates, frame)
    around = candidates[max(at - 1, 0) : at + 1]
    return min(around, key=lambda other: (abs(other - frame), other > frame))


def _permuted(found: list[Difference]) -> Iterator[Difference]:
    """Say so if the results that are of other frames are all there, only in another order."""
    exchanged = [difference for difference in found if difference.kind == "other-frame"]
    all_there = {d.frame for d in exchanged} == {d.other for d in exchanged}
    for difference in found:
        swapped = all_there and difference.kind == "other-frame"
        yield replace(difference, kind="out-of-order") if swapped else difference
