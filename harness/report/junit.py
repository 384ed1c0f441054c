"""Reports as JUnit XML: a suite for each case, a test for each rule."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from harness.report.advice import advice
from harness.report.findings import numbers, place
from harness.report.text import clean
from harness.report.verdict import sentence
from harness.result import Report, RuleResult

_PACKAGE = "steadyframe"


def to_junit(cases: Sequence[tuple[str, Report]]) -> str:
    """The whole document. A run without a verdict is a test named `verdict` that has an error."""
    root = Element("testsuites", name=_PACKAGE)
    for name, report in cases:
        _suite(root, clean(name), report)
    for total in ("tests", "failures", "errors", "skipped"):
        root.set(total, str(sum(int(suite.get(total, "0")) for suite in root)))
    root.set("time", f"{sum(report.cost.wall_s for _, report in cases):.3f}")
    indent(root)
    return tostring(root, encoding="unicode", xml_declaration=False).join(
        ('<?xml version="1.0" encoding="UTF-8"?>\n', "\n")
    )


def _suite(root: Element, name: str, report: Report) -> None:
    suite = SubElement(root, "testsuite", name=f"{_PACKAGE}.{name}")
    properties = SubElement(suite, "properties")
    for key in ("target", "workload", "level", "replay"):
        SubElement(properties, "property", name=key, value=clean(getattr(report, key)))
    of = f"{_PACKAGE}.{name}"
    verdict = SubElement(suite, "testcase", classname=of, name="verdict")
    verdict.set("time", f"{report.cost.wall_s:.3f}")
    if report.verdict == "no-verdict":
        error = SubElement(verdict, "error", message=clean(sentence(report)))
        if report.failure is not None:
            error.set("type", clean(report.failure.kind))
            error.text = clean(f"{report.failure.text}\n\n{report.failure.detail}", lines=True)
    for rule in report.rules:
        _test(SubElement(suite, "testcase", classname=of, name=clean(rule.rule), time="0"), rule)
    suite.set("tests", str(len(suite.findall("testcase"))))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("errors", str(len(suite.findall("testcase/error"))))
    suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
    suite.set("time", f"{report.cost.wall_s:.3f}")


def _test(test: Element, rule: RuleResult) -> None:
    if rule.status == "skipped":
        SubElement(test, "skipped", message=clean(rule.why))
    if rule.status != "fail":
        return
    first = rule.findings[0].text if rule.findings else ""
    failure = SubElement(test, "failure", message=clean(first or rule.why), type=clean(rule.rule))
    lines = [f"{rule.why}: measured {rule.measured:,}, limit {rule.limit:,}"]
    for finding in rule.findings:
        told = advice(rule.rule, finding.kind)
        lines += ["", finding.text or rule.why]
        if finding.file:
            lines.append(f"  at {place(finding.file, finding.line)} in {finding.function}")
        lines += [f"  {numbers(rule, finding)}", f"  {told.why} {told.remedy}"]
        lines += [f"    {way}" for way in finding.native]
        lines += [f"    {function}  {place(file, line)}" for function, file, line in finding.stack]
    failure.text = "\n".join(map(clean, lines))
