"""JUnit XML: well-formed whatever it holds, and its totals are those of its parts."""

from __future__ import annotations

from xml.etree import ElementTree

from harness.report.junit import to_junit
from harness.result import Failure, RuleResult

HOSTILE = "]]> <!-- <script> & \" ' \n \0 \x1b \x0b \ufffe \ud800 \udcff"


def parsed(*cases) -> ElementTree.Element:
    text = to_junit(cases)
    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n')
    return ElementTree.fromstring(text.encode())


def test_a_case_is_a_suite_and_a_rule_a_test(make_report) -> None:
    skipped = make_report(
        rules=(*make_report().rules, RuleResult("grow-only", "skipped", 0, 0, "no second size"))
    )
    root = parsed(("one", make_report()), ("two", skipped))
    assert [suite.get("name") for suite in root] == ["steadyframe.one", "steadyframe.two"]
    assert [test.get("name") for test in root.iter("testcase")] == [
        "verdict", "steady-allocations", "teardown-release",
        "verdict", "steady-allocations", "teardown-release", "grow-only",
    ]  # fmt: skip
    (found,) = root.iter("skipped")
    assert found.get("message") == "no second size"
    assert {test.get("classname") for test in root[0].iter("testcase")} == {"steadyframe.one"}


def test_a_failure_has_place_numbers_stack_and_remedy(make_failed, make_finding) -> None:
    root = parsed(("mine", make_failed(make_finding(kind="churn"))))
    (failure,) = root.iter("failure")
    assert failure.get("type") == "steady-allocations"
    assert failure.get("message") == make_finding().text
    text = failure.text or ""
    for part in ("/nowhere/mine.py:3 in execute", "8,257,536 bytes", "/nowhere/app.py:99", "out="):
        assert part in text


def test_no_verdict_is_an_error(make_report) -> None:
    failure = Failure("crashed", "execute", 1, 3, "It crashed.", "stack\nof it")
    root = parsed(("mine", make_report(verdict="no-verdict", failure=failure, rules=())))
    (error,) = root.iter("error")
    assert error.get("type") == "crashed"
    assert "after frame 3" in (error.get("message") or "")
    assert "It crashed.\n\nstack\nof it" in (error.text or "")


def test_totals_are_the_sums_of_the_parts(make_report, make_failed, make_finding) -> None:
    broken = make_report(verdict="no-verdict", rules=(RuleResult("a", "skipped", 0, 0, ""),))
    root = parsed(("a", make_report()), ("b", make_failed(make_finding())), ("c", broken))
    for element in (root, *root.findall("testsuite")):
        for total, tag in (
            ("tests", "testcase"), ("failures", "failure"), ("errors", "error"),
            ("skipped", "skipped"),
        ):  # fmt: skip
            assert int(element.get(total, "-1")) == len(list(element.iter(tag)))
    assert root.get("time") == "3.750"


def test_hostile_text_stays_text(make_failed, make_finding) -> None:
    found = make_finding(
        text=HOSTILE, file=HOSTILE, function=HOSTILE, owner=HOSTILE, stack=((HOSTILE, HOSTILE, 1),)
    )
    failure = Failure(HOSTILE, HOSTILE, 1, 1, HOSTILE, HOSTILE)
    report = make_failed(found, rule=HOSTILE, target=HOSTILE, workload=HOSTILE, replay=HOSTILE)
    broken = make_failed(rule=HOSTILE, failure=failure)
    broken.verdict = "no-verdict"
    root = parsed((HOSTILE, report), (HOSTILE, broken))
    assert {element.tag for element in root.iter()} == {
        "testsuites", "testsuite", "properties", "property", "testcase", "failure", "error",
    }  # fmt: skip
    (failed, _) = root.iter("failure")
    assert "]]> <!-- <script> &" in (failed.text or "")
    assert "\\ud800" in (failed.text or "")
