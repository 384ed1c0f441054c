"""Findings as SARIF 2.1.0, so that a code review shows each one at its line.

All cases are one run: services that take such files refuse several runs of one tool. What several
cases find on one line is one result that names them all.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from typing import Any, TypeAlias

from harness.report.advice import advice
from harness.report.text import clean, uri
from harness.report.verdict import sentence
from harness.result import Finding, Report, RuleResult, StackFrame

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT = "SRCROOT"
_FINGERPRINT = "steadyframe/v1"
_STATES = ("new", "updated", "unchanged")
"""of the gate: either all results have one, or none has"""
_Key: TypeAlias = tuple[str, str, str, int, str]
"""rule, kind, file, line, function"""


def to_sarif(cases: Sequence[tuple[str, Report]], root: Path) -> str:
    """The document as JSON text. Files in `root`, an absolute folder, are named relative to it."""
    found: dict[_Key, tuple[RuleResult, Finding, list[str]]] = {}
    states: dict[_Key, set[str]] = defaultdict(set)
    for name, report in cases:
        for rule, finding in sorted(_findings(report), key=lambda each: each[1].line):
            key = (rule.rule, finding.kind, finding.file, finding.line, finding.function)
            found.setdefault(key, (rule, finding, []))[2].append(name)
            states[key].add(finding.baseline)
    ids = sorted({_id(rule, finding) for rule, finding, _ in found.values()})
    results = [_result(rule, finding, names, ids, root) for rule, finding, names in found.values()]
    _number(results)
    if any(state for each in states.values() for state in each):
        for result, each in zip(results, states.values(), strict=True):
            result["baselineState"] = _newest(each)
        results.sort(key=lambda result: _STATES.index(result["baselineState"]))
    run = {
        "tool": {"driver": _driver(cases, ids)},
        "automationDetails": {"id": "steadyframe/"},
        "originalUriBaseIds": {_ROOT: {"uri": f"{root.as_uri().rstrip('/')}/"}},
        "invocations": [_invocation(cases)],
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2) + "\n"


def _newest(states: set[str]) -> str:
    """Of several cases on one line; what was held against no record is new."""
    return next(state for state in _STATES if state in states or (state == "new" and "" in states))


def _findings(report: Report) -> Iterator[tuple[RuleResult, Finding]]:
    for rule in report.rules:
        for finding in rule.findings:
            yield rule, finding


def _id(rule: RuleResult, finding: Finding) -> tuple[str, str]:
    return clean(rule.rule), clean(finding.kind)


def _driver(cases: Sequence[tuple[str, Report]], ids: list[tuple[str, str]]) -> dict[str, Any]:
    driver: dict[str, Any] = {"name": "steadyframe", "rules": [_rule(*each) for each in ids]}
    versions = {str(report.environment.get("steadyframe", "")) for _, report in cases} - {""}
    if versions:
        driver["version"] = clean(max(versions))
    return driver


def _rule(rule: str, kind: str) -> dict[str, Any]:
    told = advice(rule, kind)
    return {
        "id": "/".join(filter(None, (rule, kind))),
        "name": "".join(word.capitalize() for word in f"{rule}-{kind}".split("-")),
        "shortDescription": {"text": told.title},
        "fullDescription": {"text": told.why},
        "help": {
            "text": f"{told.why}\nUsual remedy: {told.remedy}",
            "markdown": f"{told.why}\n\n**Usual remedy:** {told.remedy}",
        },
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": ["memory"]},
    }


def _invocation(cases: Sequence[tuple[str, Report]]) -> dict[str, Any]:
    """Whether every case came to a verdict, and of those that did not, why."""
    broken = [(name, report) for name, report in cases if report.verdict == "no-verdict"]
    return {
        "executionSuccessful": not broken,
        "toolExecutionNotifications": [
            {"level": "error", "message": {"text": clean(f"{name}: {sentence(report)}")}}
            for name, report in broken
        ],
    }


def _result(
    rule: RuleResult,
    finding: Finding,
    names: list[str],
    ids: list[tuple[str, str]],
    root: Path,
) -> dict[str, Any]:
    number = ids.index(_id(rule, finding))
    told = advice(rule.rule, finding.kind)
    text = f"{finding.text or rule.why}. Usual remedy: {told.remedy}"
    result: dict[str, Any] = {
        "ruleId": "/".join(filter(None, ids[number])),
        "ruleIndex": number,
        "level": "error",
        "message": {"text": clean(text)},
        "locations": [_location(finding.function, finding.file, finding.line, root)],
        "partialFingerprints": {_FINGERPRINT: _fingerprint(rule, finding, root)},
        "properties": {
            "cases": [clean(name) for name in dict.fromkeys(names)],
            "owner": clean(finding.owner),
            "count": finding.count,
            "bytes": finding.bytes,
        },
    }
    if finding.stack:
        frames = [{"location": _location(*_as_place(frame), root)} for frame in finding.stack]
        result["stacks"] = [{"message": {"text": "innermost first"}, "frames": frames}]
    return result


def _number(results: list[dict[str, Any]]) -> None:
    """Tell apart what has equal fingerprints: several lines of one function, from top to bottom."""
    seen: Counter[str] = Counter()
    for result in results:
        fingerprint = result["partialFingerprints"][_FINGERPRINT]
        seen[fingerprint] += 1
        result["partialFingerprints"][_FINGERPRINT] = f"{fingerprint}:{seen[fingerprint]}"


def _as_place(frame: StackFrame) -> tuple[str, str, int]:
    function, file, line = frame
    return function, file, line


def _location(function: str, file: str, line: int, root: Path) -> dict[str, Any]:
    location: dict[str, Any] = {}
    if function:
        location["logicalLocations"] = [{"name": clean(function), "kind": "function"}]
    # What is in angle brackets is none: <frozen importlib>, <no Python frame>.
    if file and not file.startswith("<"):
        physical: dict[str, Any] = {"artifactLocation": _artifact(file, root)}
        if line > 0:
            physical["region"] = {"startLine": line}
        location["physicalLocation"] = physical
    return location or {"message": {"text": "no place is known"}}


def _artifact(file: str, root: Path) -> dict[str, str]:
    path = PurePath(file)
    if path.is_relative_to(root):
        return {"uri": uri(str(path.relative_to(root))), "uriBaseId": _ROOT}
    if path.is_absolute():
        return {"uri": f"file://{uri(file)}"}
    return {"uri": uri(file), "uriBaseId": _ROOT}


def _fingerprint(rule: RuleResult, finding: Finding, root: Path) -> str:
    """Equal for the same fault when lines are added above it, or the checkout lies elsewhere."""
    where = _artifact(finding.file, root)["uri"] if finding.file else ""
    text = "\n".join((rule.rule, finding.kind, finding.owner, where, finding.function))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
