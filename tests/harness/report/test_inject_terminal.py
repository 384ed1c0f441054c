"""What `inject` prints: each point once, frames that fared alike in one line."""

from __future__ import annotations

import io

from rich.console import Console

from harness.inject.points import Break
from harness.inject.report import Broken, InjectReport
from harness.report.inject_terminal import MOST_OUTCOMES, render

STACK = (("reserve", "mine.py", 7), ("infer", "mine.py", 3))


def broken(
    *breaks: Break, index: int = 3, lasting: bool = False, first_use: bool = False
) -> Broken:
    where = ("MainThread", "execute", 2, STACK)
    return Broken(index, 40, "aten.empty", "operator", lasting, first_use, *where, breaks)


def printed(*found: Broken) -> list[str]:
    told = io.StringIO()
    report = InjectReport(
        1, "fail" if found else "pass", "m:f", "8x8@25*4", 40, 5, 9, 18,
        broken=found, replay="steadyframe inject m:f",
    )  # fmt: skip
    render(report, Console(file=told, width=80))
    return told.getvalue().splitlines()


def outcomes(*breaks: Break) -> list[str]:
    return [line[4:] for line in printed(broken(*breaks)) if line.startswith("    ")][:-2]


def failed(frame: int, text: str = "KeyError: 'x'") -> Break:
    return Break("good-frame-failed", f"frame {frame}: {text}", frame)


def test_a_point_is_told_once_with_all_that_came_of_it() -> None:
    lasting = broken(Break("wrong-exception", "frame 4: IndexError", 4), lasting=True)
    assert printed(broken(*map(failed, (3, 4, 5, 7))), lasting) == [
        "FAIL  m:f does not survive a failure: 1 point broke something.",
        "",
        "3 of 40  aten.empty on MainThread, in execute, frame 2:",
        "  it fails once:",
        "    good-frame-failed: a frame that was not in hand fails too: frames 3-5, 7: "
        "KeyError: 'x'",
        "  it and all after it fail:",
        "    wrong-exception: what is raised does not say what failed: frame 4: IndexError",
        "  stack of the operation, innermost first:",
        "    reserve  mine.py:7",
        "    infer  mine.py:3",
        "",
        "40 operations that can fail () at 5 stacks; 9 points chosen of them, "
        "18 runs with a failure; 0 s.",
        "Replay:   steadyframe inject m:f",
    ]


def test_a_survivor_is_told_in_three_lines() -> None:
    assert len(list(filter(None, printed()))) == 3


def test_points_are_told_apart_and_a_stack_that_they_share_is_shown_once() -> None:
    lines = printed(
        broken(failed(3)), broken(failed(3), first_use=True), broken(failed(9), index=4)
    )
    heads = [line for line in lines if " of 40  " in line]
    assert [head.split()[0] for head in heads] == ["3", "3", "4"]
    assert heads[1].endswith(", the first time in a process:")
    assert lines.count("    reserve  mine.py:7") == 1
    assert lines.count("  stack of the operation: shown above") == 2


def test_what_differs_is_told_apart_and_what_recurs_is_counted() -> None:
    lost = [Break("frame-lost", f"frame {frame}", frame) for frame in (4, 5)]
    extra = [Break("extra-event", "after all frames had theirs came an array")] * 3
    assert outcomes(failed(3), failed(4, "OSError"), *lost, *extra) == [
        "good-frame-failed: a frame that was not in hand fails too: frame 3: KeyError: 'x'",
        "good-frame-failed: a frame that was not in hand fails too: frame 4: OSError",
        "frame-lost: a frame has neither a result nor an exception: frames 4-5",
        "extra-event: more comes out than went in: after all frames had theirs came an array "
        "(3 times)",
    ]


def test_outcomes_beyond_the_first_few_are_counted() -> None:
    lines = outcomes(*(failed(frame, f"frame {frame} is spoilt") for frame in range(3, 10)))
    assert len(lines) == MOST_OUTCOMES + 1
    assert lines[-1] == "and 3 other outcomes: --json FILE keeps all of them"
