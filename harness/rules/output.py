"""output: every result equals that of a fresh, buffer-free computation of the same frame.

Stale data in a buffer that is used again, a size that was not updated, results that change places:
none of these leaves a trace in memory, all of them show here.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from harness.contract import Contract
from harness.outputs import Difference, OutputEvidence
from harness.result import Finding, RuleResult
from harness.timeline import Timeline

ID = "output"
_MOST_RANGES = 8


def check(timeline: Timeline, contract: Contract) -> RuleResult:  # noqa: ARG001 - the same at every level
    """Measured: results that differ from their reference."""
    evidence = timeline.outputs
    if evidence is None:
        return RuleResult(ID, "skipped", 0, 0, "results were not measured")
    unclear = "; ".join(evidence.unclear)
    if wrong := (*evidence.unreadable, *evidence.differences):
        findings = tuple(_findings(evidence, wrong))
        why = "; ".join(filter(None, [_coverage(evidence), _random(evidence), unclear]))
        return RuleResult(ID, "fail", len(wrong), 0, why, findings)
    if evidence.unreproducible:
        return RuleResult(ID, "skipped", 0, 0, _random(evidence))
    if not evidence.compared:
        return RuleResult(ID, "skipped", 0, 0, unclear or "there was no result to compare")
    why = "; ".join(filter(None, [_coverage(evidence), unclear]))
    return RuleResult(ID, "pass", 0, 0, why)


def _coverage(evidence: OutputEvidence) -> str:
    what = f"results that differ from those of {_reference(evidence)}"
    left_out = sorted(set(range(evidence.frames)) - set(evidence.compared))
    if not left_out:
        return f"{what}; all {evidence.frames:,} compared"
    return (
        f"{what}; {len(evidence.compared):,} of {evidence.frames:,} compared, for want of time or "
        f"of a reference not {ranges(left_out)}"
    )


def _reference(evidence: OutputEvidence) -> str:
    return "a second instance fed one by one" if evidence.serial else "fresh instances"


def _random(evidence: OutputEvidence) -> str:
    if not evidence.unreproducible:
        return ""
    many = ranges(evidence.unreproducible)
    return (
        f"two references of the same frame disagree (frames: {many}): a result that is random, or "
        "depends on more than frames, can't be judged"
    )


def _findings(evidence: OutputEvidence, wrong: Sequence[Difference]) -> list[Finding]:
    """One for each way of being wrong, with the frames on which it was seen."""

    def way(difference: Difference) -> tuple[str, int]:
        lag = difference.kind in ("other-frame", "wrong-pts") and difference.other >= 0
        return difference.kind, difference.frame - difference.other if lag else 0

    ordered = sorted(wrong, key=lambda d: (*way(d), d.cycle, d.frame))
    groups = [list(group) for _, group in groupby(ordered, key=way)]
    groups.sort(key=lambda group: (group[0].cycle, group[0].frame))
    return [_finding(evidence, group) for group in groups]


def _finding(evidence: OutputEvidence, group: Sequence[Difference]) -> Finding:
    first = group[0]
    text = _sentence(first, _reference(evidence))
    if first.kind == "wrong-data" and evidence.detail:
        text += f" ({evidence.detail})"
    if len(group) > 1:
        text += f"; likewise {len(group) - 1:,} more"
    if evidence.serial_agrees and first.kind in ("wrong-data", "other-frame"):
        text += (
            ". A second instance that is fed the same frames one by one gives the same: if results "
            "are meant to depend on the frames before, declare the backend stateful"
        )
    frames = tuple(sorted({difference.frame for difference in group}))
    return Finding(
        owner="backend",
        file="",
        line=0,
        function="get_result",
        frames=() if first.kind in ("result-count", "lost-at-flush") else frames,
        count=len(group),
        bytes=0,
        cycle=first.cycle,
        stack=(),
        kind=first.kind,
        text=text,
    )


def _sentence(d: Difference, reference: str) -> str:
    where = f"cycle {d.cycle}: "
    match d.kind:
        case "other-frame":
            return f"{where}frame {d.frame}'s result is that of frame {d.other}"
        case "out-of-order":
            return (
                f"{where}results are out of order: frame {d.frame}'s result is that of frame "
                f"{d.other}"
            )
        case "stale-size":
            return (
                f"{where}the result of frame {d.frame} has the size of the frame before, as frame "
                f"{d.other} (stale output size): {d.got} instead of {d.expected}"
            )
        case "unreadable":
            return f"{where}result {d.frame} can't be used: {d.got}"
        case "wrong-shape":
            return f"{where}the result of frame {d.frame} is {d.got} instead of {d.expected}"
        case "wrong-pts":
            pts = "no pts" if d.other < 0 else f"pts {d.other}"
            return f"{where}the result of frame {d.frame} has {pts} instead of {d.expected}"
        case "missing-result":
            return f"{where}frame {d.frame} has no result, though alone it has one"
        case "extra-result":
            return f"{where}frame {d.frame} has more than one result, though alone it has one"
        case "result-count":
            return f"{where}{d.got} results came, of a second instance fed one by one {d.expected}"
        case "lost-at-flush":
            return (
                f"{where}all {d.got} frames have a result, though none has one that is fed alone "
                "to a fresh instance, which is then flushed: what is in flight is lost in flush()"
            )
    return f"{where}the result of frame {d.frame} differs from that of {reference}"


def ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers in short: 1-3, 7."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    parts = [str(a) if a == b else f"{a}-{b}" for a, b in runs]
    if len(parts) > _MOST_RANGES:
        parts[_MOST_RANGES - 1 : -1] = ["..."]
    return ", ".join(parts)
