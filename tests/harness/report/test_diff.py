"""Two runs compared: what is worse, what is better, what has only moved."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from harness.report import diff_html, diff_markdown, diff_terminal
from harness.report.diff import Change, Diff, diff, headline
from harness.result import RuleResult

HOSTILE = "<script>own()</script> | [a](http://x) @me\n\0\udcff"


def told(changes: tuple[Change, ...]) -> set[tuple[str, str, str, str, str]]:
    return {(c.direction, c.name, c.what, c.before, c.after) for c in changes}


def shown(found: Diff, width: int = 160) -> str:
    stream = io.StringIO()
    diff_terminal.render(found, Console(file=stream, width=width, markup=True))
    return stream.getvalue()


def test_equal_reports_differ_in_nothing(make_failed, make_finding) -> None:
    found = diff(make_failed(make_finding()), make_failed(make_finding()))
    assert found.parts == (("rule", ()), ("owner", ()), ("site", ()))
    assert found.cautions == ()
    assert headline(found) == "Nothing changed: every count is the same."


def test_rules_that_fail_now_or_hold_again_come_with_their_numbers(make_report) -> None:
    def report(**rules: tuple[str, int]):
        return make_report(
            rules=tuple(RuleResult(name, status, n, 0, "") for name, (status, n) in rules.items())
        )

    before = report(a=("pass", 0), b=("fail", 9), c=("fail", 5), d=("fail", 5), e=("pass", 1),
                    f=("skipped", 0), g=("pass", 0))  # fmt: skip
    after = report(a=("fail", 3), b=("pass", 0), c=("fail", 6), d=("fail", 4), e=("pass", 2),
                   f=("pass", 0), h=("fail", 1))  # fmt: skip
    what = "verdict, measured"
    assert told(diff(before, after).rules) == {
        ("worse", "a", what, "pass, 0", "fail, 3"),
        ("better", "b", what, "fail, 9", "pass, 0"),
        ("worse", "c", what, "fail, 5", "fail, 6"),
        ("better", "d", what, "fail, 5", "fail, 4"),
        ("changed", "e", what, "pass, 1", "pass, 2"),
        ("changed", "f", what, "skipped", "pass, 0"),
        ("changed", "g", what, "pass, 0", "not there"),
        ("worse", "h", what, "not there", "fail, 1"),
    }


def test_owners_are_compared_by_what_they_do_on_a_steady_step_and_hold(
    make_report, make_step
) -> None:
    def report(allocations: int, live: int):
        steps = (
            make_step(1, 0, "record", backend=(99, 5000)),
            make_step(1, 1, backend=(allocations, 64 * allocations), model=(7, 7)),
            make_step(1, 2, backend=(0, 0), model=(7, 7)),
        )
        for step in steps:
            step.live_by_owner = {"model": live}
        return make_report(steps=steps)

    found = diff(report(0, 300), report(2, 200))
    assert told(found.owners) == {
        ("worse", "backend", "allocations of a steady step", "0", "2"),
        ("worse", "backend", "bytes of a steady step", "0", "128"),
        ("better", "model", "live bytes at most", "300", "200"),
    }
    assert [change.direction for change in found.owners] == ["worse", "worse", "better"]


def test_growth_events_are_compared(make_report, make_step) -> None:
    less = make_report(steps=(make_step(1, 0, "record", backend=(1, 9)),))
    more = make_report(steps=(*less.steps, make_step(1, 1, "record", backend=(1, 9))))
    assert ("worse", "backend", "growth events", "1", "2") in told(diff(less, more).owners)


def test_sites_that_only_moved_down_are_the_same(make_failed, make_finding) -> None:
    before = make_failed(make_finding(line=3), make_finding(line=9, count=5))
    after = make_failed(make_finding(line=13), make_finding(line=19, count=5))
    assert diff(before, after).sites == ()


def test_sites_are_new_gone_more_or_less(make_failed, make_finding) -> None:
    before = make_failed(
        make_finding(line=3, count=5, bytes=50),
        make_finding(line=4, function="gone", kind="kept", count=1, bytes=0),
        make_finding(line=8, function="mixed", count=5, bytes=50),
        make_finding(line=9, function="less", count=5, bytes=50),
    )
    after = make_failed(
        make_finding(line=3, count=6, bytes=50),
        make_finding(line=5, function="new", owner="model", count=2, bytes=7),
        make_finding(line=8, function="mixed", count=4, bytes=60),
        make_finding(line=9, function="less", count=5, bytes=40),
    )
    rule, file = "steady-allocations", "/nowhere/mine.py"
    assert told(diff(before, after).sites) == {
        ("worse", f"{file}:3 in execute", f"{rule}, backend", "5 / 50 bytes", "6 / 50 bytes"),
        ("better", f"{file}:4 in gone", f"{rule} (kept), backend", "1", "none"),
        ("worse", f"{file}:5 in new", f"{rule}, model", "none", "2 / 7 bytes"),
        ("changed", f"{file}:8 in mixed", f"{rule}, backend", "5 / 50 bytes", "4 / 60 bytes"),
        ("better", f"{file}:9 in less", f"{rule}, backend", "5 / 50 bytes", "5 / 40 bytes"),
    }


def test_a_second_line_of_the_same_function_is_new_and_the_first_stays(
    make_failed, make_finding
) -> None:
    before = make_failed(make_finding(line=3))
    after = make_failed(make_finding(line=2, count=9), make_finding(line=3))
    (change,) = diff(before, after).sites
    assert (change.direction, change.before) == ("worse", "none")
    assert change.name == "/nowhere/mine.py:2 in execute"


def test_what_was_not_the_same_about_the_runs_is_told(make_report) -> None:
    before = make_report(environment={"torch": "2.12", "python": "3.11"})
    after = make_report(seed=8, environment={"torch": "2.13", "python": "3.11"})
    assert diff(before, after).cautions == (
        "seed: 7 before, 8 after",
        "environment, torch: 2.12 before, 2.13 after",
    )


def test_large_numbers_fit_eighty_columns(make_failed, make_finding) -> None:
    before = make_failed(make_finding(count=1740, bytes=53_585_952, kind="regrowth"))
    after = make_failed(make_finding(count=4872, bytes=107_273_520, kind="regrowth"))
    text = shown(diff(before, after), width=80)
    assert max(map(len, text.splitlines())) <= 80
    assert (
        "steady-allocations (regrowth), backend: "
        "1,740 / 53,585,952 bytes -> 4,872 / 107,273,520 bytes"
    ) in " ".join(text.split())


@pytest.mark.parametrize("worse", [True, False])
def test_every_renderer_tells_it(make_report, make_failed, make_finding, worse: bool) -> None:
    good, bad = make_report(), make_failed(make_finding(count=77, bytes=0))
    found = diff(good, bad) if worse else diff(bad, good)
    word = "worse" if worse else "better"
    for text in (shown(found), diff_markdown.to_markdown(found), diff_html.diff_page(found)):
        assert headline(found) in text
        assert word in text
        for part in ("By rule", "By site", "/nowhere/mine.py:3 in execute", "77", "none"):
            assert part in text


def test_hostile_text_is_shown_and_never_obeyed(make_failed, make_finding) -> None:
    found = diff(
        make_failed(make_finding(file=HOSTILE, function=HOSTILE, owner=HOSTILE), rule=HOSTILE),
        make_failed(target=HOSTILE, environment={HOSTILE: HOSTILE}),
    )
    page, text = diff_html.diff_page(found), diff_markdown.to_markdown(found)
    for shape in (page, text, shown(found)):
        shape.encode()
        assert "\0" not in shape
    assert "<script>own" not in page
    assert "<script>" not in text
    assert "[a]" not in text
    assert "@me" not in text
    assert all(line.count("|") == 6 for line in text.splitlines() if line.startswith("|"))
