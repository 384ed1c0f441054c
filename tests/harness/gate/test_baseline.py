"""The file: the same text for the same counts, and one clear line for whatever is no baseline."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness import baseline, cli
from harness.baseline import Baseline
from harness.errors import UsageError
from harness.gate.case import Case
from harness.gate.counts import counts
from harness.gate.fingerprint import fingerprint
from tests.harness.gate.helpers import ENVIRONMENT, project, report

HERE = fingerprint(ENVIRONMENT)
ELSEWHERE = fingerprint(ENVIRONMENT | {"cpu_capability": "AVX2"})
CASE = Case("a", "a.py:Backend", options={"nireq": 4, "mode": "sync", "fast": True, "x": 0.5})


def recorded(*places: Any, case: Case = CASE, old: Baseline | None = None) -> Baseline:
    found = counts(report(), Path("/project"))
    return baseline.updated(old, [(case, place, found) for place in places], {case.name})


def test_it_reads_back_what_it_wrote_and_writes_the_same_text(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    written = recorded(HERE, ELSEWHERE)
    baseline.save(path, written)
    assert baseline.load(path) == written
    assert baseline.to_text(baseline.load(path)) == path.read_text()
    json.loads(path.read_text())
    assert [entry.name for entry in tmp_path.iterdir()] == ["baseline.json"]


def test_a_count_that_changed_is_one_line_of_the_diff() -> None:
    old, new = (
        baseline.to_text(
            baseline.updated(None, [(CASE, HERE, counts(report(model=row), Path("/")))], {"a"})
        )
        for row in ((600, 9000), (601, 9000))
    )
    lines = list(zip(old.splitlines(), new.splitlines(), strict=True))
    changed = [(one, other) for one, other in lines if one != other]
    assert len(changed) == 1
    assert changed[0][0] == changed[0][1].replace("601", "600")


def test_environments_are_kept_beside_each_other_until_the_case_is_another() -> None:
    both = recorded(ELSEWHERE, old=recorded(HERE))
    assert [place for place, _ in both.records("a")] == [HERE, ELSEWHERE]
    other = msgspec.structs.replace(CASE, seed=1)
    assert [place for place, _ in recorded(HERE, case=other, old=both).records("a")] == [HERE]


def test_a_processor_that_counts_the_same_adds_nothing() -> None:
    twin = fingerprint(ENVIRONMENT | {"processor": "another"})
    assert recorded(twin, old=recorded(HERE)) == recorded(HERE)


def test_cases_that_are_declared_no_more_go_with_their_environments() -> None:
    assert baseline.updated(recorded(HERE), [], set()) == Baseline()


def test_what_another_gate_recorded_meanwhile_stays(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    names = ["a", "b", "c", "d"]
    found = counts(report(), Path("/project"))

    def record(name: str) -> None:
        case = msgspec.structs.replace(CASE, name=name)
        baseline.record(path, [(case, HERE, found)], set(names))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(record, names * 4))
    assert list(baseline.load(path).cases) == names
    assert [entry.name for entry in tmp_path.iterdir()] == ["baseline.json"]


GOOD = msgspec.json.decode(baseline.to_text(recorded(HERE)))


def altered(**changes: Any) -> bytes:
    return json.dumps(GOOD | changes).encode()


def count_altered(**changes: Any) -> bytes:
    data = json.loads(json.dumps(GOOD))
    data["cases"]["a"]["measured"][0]["counts"].update(changes)
    return json.dumps(data).encode()


HOSTILE = {
    "empty": b"",
    "blank": b" \n",
    "null": b"null",
    "list": b"[]",
    "cut": baseline.to_text(recorded(HERE)).encode()[:-40],
    "conflict": b"<<<<<<< HEAD\n" + altered(),
    "binary": b"\xff\xfe\x00\x01",
    "bad utf-8": altered().replace(b"mine.py", b"\xff\xff\xff\xff\xff\xff\xff"),
    "deep": b'{"schema":1,"cases":' + b"[" * 100_000,
    "older": altered(schema=0),
    "newer": altered(schema=2),
    "schema of another kind": altered(schema="1"),
    "unknown field": altered(more=1),
    "unknown environment": altered(environments={}),
    "no counts": altered(cases={"a": {"case": GOOD["cases"]["a"]["case"], "measured": []}}),
    "another name": altered(cases={"b\x1b[31m": GOOD["cases"]["a"]}),
    "negative": count_altered(growth_events=-1),
    "huge": count_altered(growth_events=1 << 70),
    "fraction": count_altered(growth_events=1.5),
    "text for a number": count_altered(growth_events="0"),
    "no verdict": count_altered(verdict="no-verdict"),
    "bad level": count_altered(holds="all"),
    "control characters": b'{"schema": 1, "\x1b[2J": 1}',
}


@pytest.mark.parametrize("update", [False, True])
@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_what_is_no_baseline_is_one_line_and_is_left_alone(
    data: bytes, update: bool, tmp_path: Path, monkeypatch, capsys
) -> None:
    project(tmp_path, "a")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b.json").write_bytes(data)
    assert cli.main(["gate", "--baseline", "b.json", *(["--update"] if update else [])]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("steadyframe: ")
    assert err.count("\n") == 1
    assert err.strip().isprintable()
    assert len(err) < 600
    assert (tmp_path / "b.json").read_bytes() == data


def test_what_is_no_file_is_told_and_nothing_waits_for_it(tmp_path: Path, monkeypatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    monkeypatch.setattr(baseline, "LARGEST", 10)
    (tmp_path / "large").write_bytes(b"x" * 11)
    for path, words in (
        (tmp_path / "pipe", "no file"),
        (tmp_path, "no file"),
        (tmp_path / "large", "larger than"),
        (tmp_path / ("n" * 300), "can't be read"),
    ):
        with pytest.raises(UsageError, match=words):
            baseline.load(path)
    assert baseline.load(tmp_path / "none.json") is None
