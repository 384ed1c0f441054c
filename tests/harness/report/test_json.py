"""The JSON report: a round trip, always the same text, and nothing else accepted."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from harness.baseline import Baseline
from harness.errors import UsageError
from harness.gate.results import GateResult
from harness.inject.report import InjectReport
from harness.inject.report import to_json as inject_json
from harness.report.json import LARGEST, MADE_BY, from_json, load, to_json
from harness.result import Failure
from harness.watch.result import Watched
from harness.watch.result import to_json as watch_json


def test_round_trip_keeps_everything(make_report, make_failed, make_finding) -> None:
    failure = Failure("crashed", "execute", 2, 17, "it crashed", "Segmentation fault")
    for report in (
        make_report(),
        make_failed(make_finding()),
        make_report(verdict="no-verdict", failure=failure, notes=("one", "two")),
    ):
        assert from_json(to_json(report)) == report


def test_text_depends_on_no_order_of_insertion(make_report) -> None:
    one = make_report(environment={"a": 1, "b": {"c": 2, "d": 3}})
    other = make_report(environment={"b": {"d": 3, "c": 2}, "a": 1})
    assert to_json(one) == to_json(other)


def test_fields_are_those_of_schema_1(make_failed, make_finding, make_report) -> None:
    data = json.loads(to_json(make_failed(make_finding())))
    assert list(data)[:7] == ["schema", "verdict", "level", "target", "workload", "seed", "rules"]
    assert data["schema"] == 1
    assert {"steps", "teardown", "cost", "environment", "replay"} <= set(data)
    (found,) = data["rules"][0]["findings"]
    assert found["stack"][0] == ["execute", "/nowhere/mine.py", 3]
    assert json.loads(to_json(make_report()))["steps"][2]["by_owner"]["model"] == {
        "allocations": 1204,
        "bytes": 2_943_120,
    }


def test_text_that_is_not_utf8_is_kept_as_escapes(make_failed, make_finding) -> None:
    text = to_json(make_failed(make_finding(file="/tmp/\udcff.py")))
    assert from_json(text).rules[0].findings[0].file == "/tmp/\\udcff.py"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        '{"schema": "1"}',
        '{"schema": 1}',
        b"\xff\xfe",
        "[" * 100_000,
        '{"schema": 1, "verdict": "perhaps"}',
    ],
)
def test_anything_else_is_a_usage_error_of_one_line(text: str | bytes) -> None:
    with pytest.raises(UsageError) as caught:
        from_json(text)
    assert "\n" not in str(caught.value)


def test_truncated_report_is_refused(make_report) -> None:
    text = to_json(make_report())
    with pytest.raises(UsageError, match="not a steadyframe report"):
        from_json(text[: len(text) // 2])


def test_what_a_file_is_instead_is_told(tmp_path) -> None:
    inject = InjectReport(1, "pass", "m:f", "8x8@25*4")
    watched = Watched(1, "pass", "", "true", "", 0, 0.1, 0.005)
    others = {
        "an empty file": b" \n",
        "a page of HTML": b"\n<!doctype html><html></html>",
        "a baseline of `steadyframe gate`": msgspec.json.encode(Baseline()),
        "the result of `steadyframe gate`": msgspec.json.encode(GateResult(())),
        "a report of `steadyframe inject`": inject_json(inject).encode(),
        "a report of `steadyframe watch`": watch_json(watched).encode(),
    }
    for what, content in others.items():
        (tmp_path / "file").write_bytes(content)
        told = re.escape(f"file: not a steadyframe report, but {what}: {MADE_BY}")
        with pytest.raises(UsageError, match=told):
            load(tmp_path / "file")
    with pytest.raises(UsageError, match=re.escape(f"a folder, not a report: {MADE_BY}")):
        load(tmp_path)


def test_a_report_with_a_wrong_value_is_told_by_it(make_report) -> None:
    with pytest.raises(UsageError, match=re.escape("not a steadyframe report (Invalid")):
        from_json(to_json(make_report()).replace('"pass"', '"perhaps"'))


def test_other_schema_is_named(make_report) -> None:
    with pytest.raises(UsageError, match="schema 2, this steadyframe reads schema 1"):
        from_json(to_json(make_report(schema=2)))


def test_a_report_is_read_from_its_file(make_report, tmp_path) -> None:
    path = tmp_path / "out.json"
    path.write_text(to_json(make_report()))
    assert load(path) == make_report()


def test_a_report_of_before_fields_were_added_is_read(make_report, tmp_path) -> None:
    old = json.loads(to_json(make_report()))
    for step in old["steps"]:
        del step["live_by_owner"]
    del old["teardown"]["native"]
    path = tmp_path / "old.json"
    path.write_text(json.dumps(old))
    assert load(path).steps[0].live_by_owner == {}


def bad_files(folder: Path) -> Iterator[Path]:
    contents = {
        "empty": b"",
        "cut": b'{"schema": 1, "verdict"',
        "array": b"[1, 2]",
        "older": b'{"schema": 0}',
        "binary": b"\xff\xfe\x00",
        "deep": b'{"schema": 1, "rules": ' + b"[" * 100_000,
        "surrogate": b'{"schema": 1, "verdict": "\\ud800"}',
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
        yield folder / name
    os.mkfifo(folder / "pipe")
    yield folder / "pipe"
    huge = folder / "huge"
    with huge.open("wb") as file:
        file.truncate(LARGEST + 1)
    yield huge
    yield folder
    yield folder / "missing"
    yield folder / "a\0b"


def test_what_is_no_report_is_a_usage_error_of_one_line_that_names_the_file(tmp_path) -> None:
    for path in bad_files(tmp_path):
        with pytest.raises(UsageError) as caught:
            load(path)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)
