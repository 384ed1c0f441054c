"""From a fault that was found to the least workload that shows it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.cli import main
from harness.result import Cost, Failure, Finding, Progress, Report, RuleResult, Teardown
from harness.shrink import shrink
from harness.workload import Workload

PLANTED = Path(__file__).parent / "core" / "planted.py"
START = "64x48@100*40,32x24@100*40,64x48@100*40"


def report(workload: str, *lines: int, failure: Failure | None = None) -> Report:
    findings = tuple(
        Finding("backend", "b.py", line, "f", (), 1, 9, 1, (), "churn") for line in lines
    )
    rule = RuleResult("steady-allocations", "fail" if lines else "pass", 1, 0, "", findings)
    verdict = "no-verdict" if failure else "fail" if lines else "pass"
    return Report(
        schema=1, verdict=verdict, level="zero-owned", target="t", workload=workload, seed=0,
        rules=(rule,), steps=(), teardown=Teardown({}, {}), cost=Cost(0, 0), environment={},
        replay="", failure=failure,
    )  # fmt: skip


class Verifies:
    """Line 3 is a fault where `shows` says so; line 5 always is, and another one."""

    def __init__(self, shows: Callable[[Workload], bool], needs: bool = False) -> None:
        self._shows = shows
        self._needs_all_runs = needs
        self.quick: list[bool] = []

    def __call__(self, workload: Workload, *, quick: bool) -> Report:
        self.quick.append(quick)
        shown = self._shows(workload) and not (quick and self._needs_all_runs)
        return report(str(workload), *([3] if shown else []), 5)


def said(again: Verifies) -> tuple[str, list[Progress]]:
    told: list[Progress] = []
    return shrink(report(START, 3, 5), again, told.append), told


def test_least_workload_that_shows_the_very_same_fault_is_told() -> None:
    again = Verifies(lambda workload: workload.frame_count >= 9)
    words, told = said(again)
    assert words == (
        "the least workload that shows steady-allocations (churn) at b.py:3 is 1x1@25*9 "
        f"({len(again.quick) - 1} were tried)"
    )
    assert all(again.quick)
    assert [progress.frame for progress in told] == list(range(1, len(told) + 1))


def test_fault_that_the_traced_run_alone_does_not_show_takes_all_runs() -> None:
    again = Verifies(lambda workload: workload.frame_count >= 9, needs=True)
    words, _ = said(again)
    assert "is 1x1@25*9" in words
    assert again.quick[0]
    assert not any(again.quick[1:])


def test_fault_that_needs_it_all_has_no_smaller_workload() -> None:
    words, _ = said(Verifies(lambda workload: str(workload) == START))
    assert words.startswith("no smaller workload of ")


def test_fault_of_a_video_that_made_up_frames_do_not_show_is_told() -> None:
    words, told = said(Verifies(lambda _: False))
    assert words.endswith("does not show again with made-up frames of the same sizes")
    assert len(told) == 2


def test_run_without_a_verdict_is_shrunk_by_how_it_failed() -> None:
    crashed = Failure("crashed", "execute", 1, 3, "it crashed")

    def again(workload: Workload, *, quick: bool) -> Report:  # noqa: ARG001
        return report(str(workload), failure=crashed if workload.frame_count > 1 else None)

    words = shrink(report(START, failure=crashed), again, lambda _: None)
    assert words.startswith("the least workload that shows execute (crashed) is 1x1@25*2 ")


def test_command_tells_it_in_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    target = f"{PLANTED}:Kept"
    command = ["verify", target, "--workload", "2x1@25*10", "--shrink", "--quick", "--no-color"]
    assert main(command) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "Note: the least workload that shows " in shown
    assert " is 1x1@25*" in shown
