"""The command: arguments, exit codes, streams. What it calls is a fake here."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from harness import cases, cli
from harness.commands import levels
from harness.errors import UsageError
from harness.result import LEVELS, Cost, Progress, Report, Teardown


def make_report(verdict: str = "pass", **changes: Any) -> Report:
    values: dict[str, Any] = {
        "schema": 1,
        "verdict": verdict,
        "level": "zero-owned",
        "target": "m:f",
        "workload": "8x8@25*4",
        "seed": 0,
        "rules": (),
        "steps": (),
        "teardown": Teardown({}, {}),
        "cost": Cost(0.5, 10),
        "environment": {},
        "replay": "steadyframe verify m:f",
        "cycles": 3,
    }
    return Report(**(values | changes))


class FakeVerify:
    """Stands in for harness.verify: notes how it was called, answers as it was told."""

    def __init__(self) -> None:
        self.calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
        self.answer: Callable[..., Report] = lambda *_, **__: make_report()

    def __call__(self, *args: Any, **options: Any) -> Report:
        self.calls.append((args, options))
        return self.answer(*args, **options)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeVerify:
    module = ModuleType("harness.verify")
    verify = FakeVerify()
    module.verify = verify  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "harness.verify", module)
    return verify


def the_line(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line on stderr that a usage error may print."""
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("steadyframe: ")
    assert err.count("\n") == 1
    return err


def test_options_reach_verify(fake: FakeVerify) -> None:
    line = (
        "verify m:f --workload 8x8@25*4 --level zero-malloc --cycles 5 --warmup 0 --timeout 2.5"
        " --seed 9 --owner backend=*/a.py --owner model=b* --arg i=-3 --arg f=1e-3 --arg t=True"
        " --arg s=a=b --arg n=nan --arg u=1_0 --arg e= --map execute=infer --quiet"
        " --flamegraph f.html"
    )
    code = cli.main(line.split())
    assert code == 0
    ((args, options),) = fake.calls
    assert [str(arg) for arg in args] == ["m:f", "8x8@25*4"]
    assert options.pop("options") == {
        "i": -3,
        "f": 0.001,
        "t": True,
        "s": "a=b",
        "n": "nan",
        "u": "1_0",
        "e": "",
    }
    assert options == {
        "video": None,
        "level": "zero-malloc",
        "cycles": 5,
        "warmup": 0,
        "seed": 9,
        "methods": {"execute": "infer"},
        "owners": [("backend", "*/a.py"), ("model", "b*")],
        "timeout": 2.5,
        "memory_limit": None,
        "stateful": False,
        "quick": False,
        "flamegraph": Path("f.html"),
        "progress": None,
    }


def test_default_is_a_resolution_jump_and_a_video_takes_its_place(fake: FakeVerify) -> None:
    assert cli.main(["verify", "m:f"]) == 0
    assert cli.main(["verify", "m:f", "--video", "x.mp4"]) == 0
    (_, jump), first = fake.calls[0]
    assert str(jump) == "128x128@100*50,256x256@100*50,128x128@100*50"
    assert first["video"] is None
    assert "timeout" not in first  # its default is verify's own
    assert fake.calls[1][0][1] is None
    assert fake.calls[1][1]["video"] == Path("x.mp4")


@pytest.mark.parametrize(("verdict", "code"), [("pass", 0), ("fail", 1), ("no-verdict", 3)])
def test_verdict_is_the_exit_code(fake: FakeVerify, verdict: str, code: int) -> None:
    fake.answer = lambda *_, **__: make_report(verdict)
    assert cli.main(["verify", "m:f"]) == code
    assert cli.main(["verify", "m:f", "--quiet"]) == code
    assert cli.main(["verify", "m:f", "--json", "-"]) == code


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("", "steadyframe --help"),
        ("verfy m:f", "'verfy': did you mean 'verify'? (see `steadyframe --help`)"),
        ("prove m:f", "'prove': choose from verify, gate"),
        ("verify -- m:f --cycles 1", "unknown argument '--cycles' (see"),
        ("verify m:f --workload=", "the workload is empty"),
        ("verify m:f 8x8@25*9", "did you mean '--workload 8x8@25*9'?"),
        ("--verson", "'--verson': did you mean '--version'?"),
        ("verify", "TARGET"),
        ("verify m:f --wat", "'--wat'"),
        (
            "verify --cycle 3",
            "'--cycle': did you mean '--cycles'? (see `steadyframe verify --help`)",
        ),
        ("verify m:f m:g", "'m:g'"),
        ("verify m:f --level zero", "choose from zero-growth, zero-owned"),
        ("verify m:f --level zero-ownd", "did you mean 'zero-owned'?"),
        ("verify m:f --soak 9 --pace reel-time", "did you mean 'realtime'?"),
        ("verify m:f --cycles 0", "1 or more"),
        ("verify m:f --cycles -1", "1 or more"),
        ("verify m:f --cycles ٣", "1 or more"),
        ("verify m:f --warmup x", "0 or more"),
        ("verify m:f --timeout 0", "above 0"),
        ("verify m:f --timeout inf", "above 0"),
        ("verify m:f --timeout 1e999", "above 0"),
        ("verify m:f --arg x", "KEY=VALUE"),
        ("verify m:f --arg 1=x", "KEY=VALUE"),
        ("verify m:f --arg a=1 --arg a=2", "more than once"),
        ("verify m:f --owner x", "NAME=GLOB"),
        ("verify m:f --json", "--json"),
        ("verify m:f --json=", "--json"),
        ("verify m:f --json /", "folder"),
        ("verify m:f --json no/such/folder/x.json", "no/such/folder"),
        ("verify m:f --workload 8x8@25*4 --video x", "exclude"),
        ("verify m:f --soak 9 --flamegraph x", "traces none"),
        ("verify m:f --workload nonsense", "nonsense"),
        ("verify m:f --workload burts", "did you mean 'burst'?"),
        ("report --output /dev/null/x", "/dev/null"),
        ("list extra", "'extra'"),
    ],
)
def test_bad_usage_is_one_line_and_runs_nothing(
    fake: FakeVerify, capsys: pytest.CaptureFixture[str], line: str, hint: str, monkeypatch
) -> None:
    monkeypatch.setattr(cases, "resolve", lambda target: target)
    assert cli.main(line.split()) == 2
    assert hint in the_line(capsys)
    assert fake.calls == []


def test_usage_error_of_verify_is_one_line_whatever_it_holds(fake, capsys) -> None:
    def refuse(*_: object, **__: object) -> Report:
        raise UsageError("m:f does not import:\n  \x1b[31mboom\udcff")

    fake.answer = refuse
    assert cli.main(["verify", "m:f"]) == 2
    assert the_line(capsys) == "steadyframe: m:f does not import: \\x1b[31mboom\\udcff\n"


def test_interrupt_is_130_and_one_line(fake, capsys) -> None:
    def interrupt(*_: object, **__: object) -> Report:
        raise KeyboardInterrupt

    fake.answer = interrupt
    assert cli.main(["verify", "m:f"]) == 130
    assert the_line(capsys) == "steadyframe: interrupted\n"


def test_bug_of_ours_shows_its_traceback_and_looks_like_no_verdict(fake, capsys) -> None:
    fake.answer = lambda *_, **__: 1 / 0  # type: ignore[return-value]
    assert cli.main(["verify", "m:f"]) == 70
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_missing_dependency_is_told_with_its_remedy(fake, capsys) -> None:
    def lack(*_: object, **__: object) -> Report:
        raise ModuleNotFoundError("No module named 'memray'", name="memray")

    fake.answer = lack
    assert cli.main(["verify", "m:f"]) == 2
    assert "memray is not installed: run `make setup`" in the_line(capsys)


@pytest.mark.usefixtures("fake")
def test_json_file_is_written_and_the_report_is_printed(capsys, tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    assert cli.main(["verify", "m:f", "--json", str(path)]) == 0
    assert json.loads(path.read_text())["verdict"] == "pass"
    assert capsys.readouterr().out.startswith("PASS  m:f holds")


@pytest.mark.usefixtures("fake")
def test_json_on_stdout_is_alone_there(capsys) -> None:
    assert cli.main(["verify", "m:f", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["target"] == "m:f"


@pytest.mark.usefixtures("fake")
def test_quiet_prints_the_verdict_only(capsys) -> None:
    assert cli.main(["verify", "m:f", "--quiet"]) == 0
    assert capsys.readouterr() == (
        "PASS  m:f holds zero-owned over 3 cycles with 0 steady steps.\n",
        "",
    )


@pytest.mark.usefixtures("fake")
def test_no_colour_without_a_terminal_or_when_unwanted(capsys, monkeypatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    cli.main(["verify", "m:f"])
    assert "\x1b[1;32m" in capsys.readouterr().out
    cli.main(["verify", "m:f", "--no-color"])
    assert "\x1b[1;32m" not in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    cli.main(["verify", "m:f"])
    assert "\x1b[1;32m" not in capsys.readouterr().out


def test_progress_is_silent_off_a_terminal_unless_the_run_is_long(
    fake, capsys, monkeypatch
) -> None:
    def steps(*_: object, progress: Callable[[object], None], **__: object) -> Report:
        for cycle in (0, 1, 2, 2):
            progress(Progress("execute", cycle, 2, 3, 9))
        return make_report()

    fake.answer = steps
    cli.main(["verify", "m:f"])
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("harness.report.progress.LONG_S", -1.0)
    cli.main(["verify", "m:f"])
    lines = capsys.readouterr().err.splitlines()
    assert [line.rsplit(",", 1)[0] for line in lines] == [
        "m:f: cycle 1 of 2, execute, frame 3 of 9",
        "m:f: cycle 2 of 2, execute, frame 3 of 9",
    ]


def test_levels_in_help_are_the_levels() -> None:
    assert tuple(levels.LEVELS) == LEVELS


@pytest.mark.usefixtures("fake")
def test_target_in_the_current_folder_can_be_imported(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["/somewhere/bin"])
    cli.main(["verify", "m:f"])
    assert sys.path == [str(tmp_path), "/somewhere/bin"]
