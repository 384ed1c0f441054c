"""SARIF 2.1.0: what the standard requires, and the places that a code review shows."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from harness.report.sarif import to_sarif
from harness.result import Failure, Report

ROOT = Path("/work tree/mine")
HOSTILE = "<script> \" ' % # ? \n \0 \ud800 \udcff"


def run_of(*cases: tuple[str, Report]) -> dict[str, Any]:
    """The one run of a document that has all that the standard requires of what we use."""
    text = to_sarif(cases, ROOT)
    text.encode()
    document = json.loads(text)
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "steadyframe"
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(ids) == len(set(ids))
    for result in run["results"]:
        assert result["message"]["text"]
        assert ids[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("none", "note", "warning", "error")
        for location in result["locations"]:
            check_location(location)
        for stack in result.get("stacks", ()):
            for frame in stack["frames"]:
                check_location(frame["location"])
    for call in run["invocations"]:
        assert isinstance(call["executionSuccessful"], bool)
    prints = [result["partialFingerprints"]["steadyframe/v1"] for result in run["results"]]
    assert len(prints) == len(set(prints))
    return dict(run)


def check_location(location: dict[str, Any]) -> None:
    if physical := location.get("physicalLocation"):
        uri = physical["artifactLocation"]["uri"]
        assert re.fullmatch(r"[A-Za-z0-9._~!$&'()*+,;=:@%/-]+", uri), uri
        relative = "uriBaseId" in physical["artifactLocation"]
        assert relative is not uri.startswith("file:///")
        assert physical.get("region", {"startLine": 1})["startLine"] >= 1


def test_a_finding_is_at_its_line_relative_to_the_root(make_failed, make_finding) -> None:
    found = make_finding(file="/work tree/mine/src/a b.py", line=12, kind="churn")
    run = run_of(("one", make_failed(found)))
    (result,) = run["results"]
    assert result["ruleId"] == "steady-allocations/churn"
    assert result["message"]["text"].startswith("One tensor of 49,152 bytes")
    (location,) = result["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "src/a%20b.py", "uriBaseId": "SRCROOT"},
        "region": {"startLine": 12},
    }
    assert run["originalUriBaseIds"]["SRCROOT"]["uri"] == "file:///work%20tree/mine/"
    assert result["stacks"][0]["frames"][1]["location"]["logicalLocations"][0]["name"] == "main"


def test_a_file_elsewhere_is_absolute(make_failed, make_finding) -> None:
    (result,) = run_of(("one", make_failed(make_finding(file="/usr/lib/x.py"))))["results"]
    physical = result["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"] == {"uri": "file:///usr/lib/x.py"}


def test_what_has_no_file_has_no_physical_place(make_failed, make_finding) -> None:
    for file, line in (("", 0), ("<no Python frame>", 0), ("<frozen importlib>", 3)):
        (result,) = run_of(("one", make_failed(make_finding(file=file, line=line))))["results"]
        (location,) = result["locations"]
        assert "physicalLocation" not in location
        assert location["logicalLocations"][0]["name"] == "execute"


def test_a_file_without_a_line_has_no_region(make_failed, make_finding) -> None:
    (result,) = run_of(("one", make_failed(make_finding(line=0))))["results"]
    assert "region" not in result["locations"][0]["physicalLocation"]


def test_what_several_cases_find_on_one_line_is_one_result(make_failed, make_finding) -> None:
    bad = make_failed(make_finding(kind="churn"), make_finding(kind="kept"))
    run = run_of(("one", bad), ("two", bad))
    assert [result["properties"]["cases"] for result in run["results"]] == [["one", "two"]] * 2
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [
        "steady-allocations/churn",
        "steady-allocations/kept",
    ]


def test_a_fingerprint_outlives_lines_added_above(make_failed, make_finding) -> None:
    def prints(first: int) -> list[str]:
        found = [make_finding(line=first), make_finding(line=first + 2)]
        results = run_of(("one", make_failed(*found)))["results"]
        return [result["partialFingerprints"]["steadyframe/v1"] for result in results]

    assert prints(3) == prints(33)


def test_rules_explain_themselves(make_failed, make_finding) -> None:
    run = run_of(("one", make_failed(make_finding(kind="churn"))))
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["shortDescription"]["text"] == "Allocated and freed in the same step"
    assert "out=" in rule["help"]["text"]


def test_no_verdict_is_a_failed_execution(make_report) -> None:
    failure = Failure("crashed", "execute", 1, 3, "It crashed.")
    broken = make_report(verdict="no-verdict", failure=failure, rules=())
    run = run_of(("good", make_report()), ("bad", broken))
    (call,) = run["invocations"]
    assert call["executionSuccessful"] is False
    (note,) = call["toolExecutionNotifications"]
    assert note["message"]["text"].startswith("bad: my.module:factory crashed")


def test_a_pass_has_no_results(make_report) -> None:
    run = run_of(("good", make_report(environment={"steadyframe": "0.1.0"})))
    assert run["results"] == []
    assert run["invocations"][0]["executionSuccessful"] is True
    assert run["tool"]["driver"]["version"] == "0.1.0"


def test_hostile_text_is_text(make_failed, make_finding) -> None:
    found = make_finding(
        text=HOSTILE, file=f"/{HOSTILE}", function=HOSTILE, owner=HOSTILE, kind=HOSTILE,
        stack=((HOSTILE, HOSTILE, -1),),
    )  # fmt: skip
    report = make_failed(found, rule=HOSTILE, environment={"steadyframe": HOSTILE})
    (result,) = run_of((HOSTILE, report))["results"]
    assert result["message"]["text"].startswith("<script> \" '")
    assert "\0" not in json.dumps(result, ensure_ascii=False)


def test_held_against_a_baseline_all_results_have_a_state_and_news_comes_first(
    make_failed, make_finding
) -> None:
    old, more, same = (
        make_finding(function=name, baseline=state, line=line)
        for line, (name, state) in enumerate(
            {"old": "unchanged", "more": "updated", "same": "unchanged"}.items(), 1
        )
    )
    not_held = make_finding(function="not held", line=9)
    elsewhere = make_finding(function="same", line=3, baseline="new")
    run = run_of(("a", make_failed(old, more, same, not_held)), ("b", make_failed(elsewhere)))
    found = [
        (result["locations"][0]["logicalLocations"][0]["name"], result["baselineState"])
        for result in run["results"]
    ]
    assert found == [
        ("same", "new"),
        ("not held", "new"),
        ("more", "updated"),
        ("old", "unchanged"),
    ]
    run = run_of(("a", make_failed(not_held)))
    assert "baselineState" not in run["results"][0]
