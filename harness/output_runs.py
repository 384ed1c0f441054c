"""The runs that the rule `output` takes, and the further ones that explain what they find."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import msgspec

from harness.capture import captured
from harness.outputs import Difference, OutputEvidence, Reference, compare
from harness.result_log import Group, read_log
from harness.spec import RESULTS, RunSpec

if TYPE_CHECKING:
    from harness.isolate import Ended

Run: TypeAlias = Callable[[RunSpec], AbstractContextManager["Ended"]]
"""Runs a child, one at a time: `functools.partial(isolate.run, timeout=..., watch=...)`"""
Arrays = list[Any]

MOST_RECHECKED = 8
"""frames whose reference is computed a second time when their results differ"""


class Computed(NamedTuple):
    """What a reference run came to."""

    reference: Reference
    failed: str
    """why it ended early, if it did"""


def compute(spec: RunSpec, run: Run) -> Computed:
    """Make the reference run that goes with the run of `spec`."""
    with run(msgspec.structs.replace(spec, instrument="reference", digests=False)) as ended:
        serial = ended.outcome.stateful if ended.outcome else spec.stateful
        reference = Reference.read(ended.folder, serial=serial)
        return Computed(reference, ended.failure.text if ended.failure else "")


def gather(
    spec: RunSpec,
    run: Run,
    screened: Sequence[Group] | None = None,
    computed: Computed | None = None,
) -> OutputEvidence:
    """Screen and compare; if something differs, find out whether that is to be relied on.

    `spec` is that of the measured run, whatever its instrument; its `stateful` counts. `screened`
    are the results of a screening run with digests, if there has been one, and `computed` those of
    a reference run.
    """
    if screened is None:
        spec = msgspec.structs.replace(spec, instrument="screen", digests=True)
        with run(spec) as ended:
            if ended.failure is not None:
                return _nothing(f"the run that was to collect the results: {ended.failure.text}")
            screened = read_log(ended.folder / RESULTS)
    reference, failed = computed or compute(spec, run)
    spec = msgspec.structs.replace(spec, instrument="reference", digests=False)
    evidence = compare(screened, reference)
    if failed:
        why = f"the reference run ended early: {failed}"
        evidence = replace(evidence, unclear=(*evidence.unclear, why))
    if evidence.differences:
        evidence = _explain(evidence, spec, run, screened, reference)
    return evidence


def _nothing(why: str) -> OutputEvidence:
    return OutputEvidence(0, (), unclear=(why,))


def _explain(
    evidence: OutputEvidence,
    spec: RunSpec,
    run: Run,
    screened: Sequence[Group],
    reference: Reference,
) -> OutputEvidence:
    """Compute again what differs; fetch the first wrong result in full; try a serial instance."""
    first = next((d for d in evidence.differences if d.kind == "wrong-data" and d.cycle == 1), None)
    suspects = _suspects(evidence, reference, first)
    # A fresh run computes the first suspect first; a serial one reaches it in its turn.
    row = (first.row if reference.serial else 0) if first else None
    again = msgspec.structs.replace(spec, frames=suspects, capture=row)
    with run(again) as ended:
        repeated = Reference.read(ended.folder, serial=reference.serial)
        due = captured(ended.folder)
    evidence = _settle(evidence, _disagreeing(reference, repeated))
    if first in evidence.differences and first is not None:
        got = _captured_result(spec, run, first.row)
        evidence = replace(evidence, detail=describe(got, due))
    if evidence.differences and not reference.serial:
        with run(msgspec.structs.replace(spec, stateful=True)) as ended:
            serial = compare(screened, Reference.read(ended.folder, serial=True))
        agrees = not serial.differences and len(serial.compared) == serial.frames > 0
        evidence = replace(evidence, serial_agrees=agrees and not ended.failure)
    return evidence


def _suspects(
    evidence: OutputEvidence, reference: Reference, first: Difference | None
) -> tuple[int, ...]:
    """Frames to compute once more: the first of each kind of difference, then others."""
    by_kind = {d.kind: d for d in reversed(evidence.differences)}
    chosen = [*([first] if first else []), *by_kind.values(), *evidence.differences]
    frames = [d.frame for d in chosen if d.kind != "result-count"]
    if not reference.serial:
        frames = [reference.representatives[frame] for frame in frames]
    return tuple(dict.fromkeys(frames))[:MOST_RECHECKED]


def _disagreeing(reference: Reference, repeated: Reference) -> set[int]:
    """Frames for which a second computation gave something else."""
    if reference.serial:
        before, now = dict(enumerate(reference.rows)), dict(enumerate(repeated.rows))
        return {n for n in before.keys() & now.keys() if before[n].key != now[n].key}
    alone, again = reference.by_frame(), repeated.by_frame()
    return {
        frame
        for frame in alone.keys() & again.keys()
        if [row.key for row in alone[frame]] != [row.key for row in again[frame]]
    }


def _settle(evidence: OutputEvidence, disagreeing: set[int]) -> OutputEvidence:
    """If one reference is random, so may all be: then nothing that differs is a fault."""
    if not disagreeing:
        return evidence
    return replace(evidence, differences=(), unreproducible=tuple(sorted(disagreeing)))


def _captured_result(spec: RunSpec, run: Run, row: int) -> Arrays:
    again = msgspec.structs.replace(
        spec, instrument="screen", digests=True, cycles=1, frames=(), capture=row
    )
    with run(again) as ended:
        return captured(ended.folder)


def describe(got: Arrays, due: Arrays) -> str:
    """Where two results differ, and by how much; empty if they can't be held together."""
    import numpy as np  # the parent needs it for this alone

    if (
        not got
        or len(got) != len(due)
        or any(a.shape != b.shape for a, b in zip(got, due, strict=True))
    ):
        return ""
    for number, (one, other) in enumerate(zip(got, due, strict=True)):
        differ = np.atleast_1d((one != other) & ((one == one) | (other == other)))
        if not differ.any():
            continue
        index = tuple(int(n) for n in np.argwhere(differ)[0])
        a, b = np.atleast_1d(one)[index], np.atleast_1d(other)[index]
        text = f"first at {list(index)}: {a} instead of {b}"
        if len(got) > 1:
            text = f"in array {number}, {text}"
        text += f"; {int(differ.sum()):,} of {differ.size:,} values differ"
        return text + _by_at_most(one, other)
    return "in a repeated run it was right: it depends on timing, or on chance"


def _by_at_most(one: Any, other: Any) -> str:
    import numpy as np

    if one.dtype.kind not in "uif":
        return ""
    distance = np.abs(one.astype(np.float64) - other.astype(np.float64))
    finite = distance[np.isfinite(distance)]
    return f", by at most {finite.max():.6g}" if finite.size else ""
