"""The main job: which cases it runs, what it writes and what it leaves alone."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from rich.console import Console

from harness import cases, cli
from harness.report import verdict
from harness.report.console import make_console
from harness.result import Cost, Report


class FakeVerify:
    """Stands in for harness.verify: notes how it was called, answers as it was told."""

    def __init__(self, answer: Callable[..., Report]) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.answer = answer

    def __call__(self, target: str, **options: Any) -> Report:
        self.calls.append((target, options))
        return self.answer(target)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, make_report) -> FakeVerify:
    module = ModuleType("harness.verify")
    verify = FakeVerify(lambda _: make_report())
    module.verify = verify  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "harness.verify", module)
    monkeypatch.setattr(cases, "resolve", lambda target: f"m:{target}")
    return verify


@contextmanager
def silent(_label: str) -> Iterator[None]:
    yield None


def test_report_verifies_five_cases_and_writes_each(fake, make_report, tmp_path, capsys) -> None:
    fake.answer = lambda target: make_report(verdict="fail" if target == "dncnn" else "pass")
    assert cli.main(["report", "--video", "x.mp4", "--output", str(tmp_path / "out")]) == 1
    assert [(target, options["options"]["mode"]) for target, options in fake.calls] == [
        ("espcn", "sync"),
        ("espcn", "async"),
        ("dncnn", "sync"),
        ("dncnn", "async"),
        ("planned", "async"),
    ]
    assert all(options["video"] == Path("x.mp4") for _, options in fake.calls)
    assert all(options["options"]["nireq"] == 4 for _, options in fake.calls)
    written = {path.name for path in (tmp_path / "out").glob("*.json")} - {cases.INDEX}
    assert written == {f"{case.name}.json" for case in cases.CASES}
    index = (tmp_path / "out/index.html").read_text()
    for name in written:
        page = name.replace("json", "html")
        assert f'href="{page}"' in index
        assert 'href="index.html"' in (tmp_path / "out" / page).read_text()
    assert (tmp_path / "out/plotly.min.js").exists()
    out = capsys.readouterr().out
    assert out.count("FAIL  my.module:factory violates") == 2
    assert "Reports: " in out


def test_own_clip_is_made_once(fake, tmp_path, monkeypatch) -> None:
    made: list[Path] = []

    def make_clip(path: Path) -> None:
        made.append(path)
        path.write_bytes(b"clip")

    clip = ModuleType("harness.clip")
    clip.make_clip = make_clip  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "harness.clip", clip)
    for _ in range(2):
        cases.run(None, tmp_path, silent)
    assert made == [tmp_path / "clip.h264"]
    assert all(options["video"] == tmp_path / "clip.h264" for _, options in fake.calls)


def test_stale_reports_go_and_foreign_files_stay(fake, tmp_path: Path) -> None:
    for name in ("gone.json", "baseline.json", "espcn-sync.json", "notes.txt", "index.html",
                 "espcn-sync.html", "mine.html"):  # fmt: skip
        (tmp_path / name).write_text("old")
    (tmp_path.parent / "outside.json").write_text("old")
    (tmp_path / "cases.json").write_text('["gone.json", "notes.txt", "../outside.json"]')

    def interrupted(_: str) -> Report:
        raise KeyboardInterrupt

    fake.answer = interrupted
    with pytest.raises(KeyboardInterrupt):
        cases.run(Path("x"), tmp_path, silent)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"baseline.json", "notes.txt", "mine.html", "cases.json", "plotly.min.js"}
    assert (tmp_path.parent / "outside.json").exists()


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize("index", ["", "{", "[1]", '{"a": 1}', "\udcff"])
def test_corrupt_index_is_as_none(tmp_path: Path, index: str) -> None:
    (tmp_path / "cases.json").write_bytes(index.encode("utf-8", "surrogateescape"))
    assert len(cases.run(Path("x"), tmp_path, silent)) == len(cases.CASES)


@pytest.mark.parametrize(
    ("verdicts", "worst"),
    [
        (["pass", "pass"], "pass"),
        (["pass", "no-verdict"], "no-verdict"),
        (["no-verdict", "fail", "pass"], "fail"),
    ],
)
def test_worst_verdict_decides(make_report, verdicts: list[str], worst: str) -> None:
    assert verdict.worst(make_report(verdict=each) for each in verdicts) == worst


def test_table_of_real_numbers_fits_eighty_columns(make_report, make_step) -> None:
    steps = tuple(
        make_step(1, index, backend=(0, 0), model=(9_840 + index % 2 * 1_920, 9))
        for index in range(108)
    )
    verdicts = ("pass", "fail", "no-verdict", "pass", "pass")
    done = [
        (case, make_report(steps=steps, cost=Cost(117.5, 1), verdict=verdict))
        for case, verdict in zip(cases.CASES, verdicts, strict=True)
    ]
    stream = io.StringIO()
    cases.render(done, Path("reports"), Console(file=stream, width=80))
    lines = stream.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    assert "…" not in stream.getvalue()
    rows = [" ".join(line.split()) for line in lines]
    assert "case verdict steps steady step events survivors time" in rows
    assert "model 9,840..11,760" in rows
    assert len(lines) == 3 + 2 * len(done) + 2


def test_table_gives_one_number_or_least_and_most(make_report, make_step, capsys) -> None:
    steps = (
        make_step(1, 0, "record", backend=(1, 10)),
        make_step(1, 2, backend=(0, 0), model=(600, 9)),
        make_step(1, 3, backend=(0, 0), model=(1204, 9)),
    )
    skipped = make_report(steps=steps, rules=(), verdict="no-verdict")
    console = make_console(sys.stdout, no_color=True)
    cases.render([(cases.CASES[0], skipped)], Path("here"), console)
    rows = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "espcn-sync NO VERDICT 2 backend 0 1 unknown 1.2 s" in rows
    assert "model 600..1,204" in rows
    assert "Reports: here/index.html" in rows
