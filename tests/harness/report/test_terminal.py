"""What a person sees."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from rich.console import Console

from harness.report.terminal import render, verdict_line
from harness.result import Extent, Failure, Report, RuleResult, Survivors, Teardown


def shown(report: Report, width: int = 200, *, color: bool = False) -> str:
    stream = io.StringIO()
    console = Console(
        file=stream,
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        highlight=False,
        markup=True,  # the worst that a caller can do
    )
    render(report, console)
    return stream.getvalue()


def test_pass_says_so_first_and_names_what_was_not_judged(make_report) -> None:
    assert shown(make_report()).startswith("PASS  my.module:factory holds zero-owned over 3 cycles")
    skipped = make_report(rules=(RuleResult("grow-only", "skipped", 0, 0, "no second size"),))
    assert "(not judged: grow-only)" in str(verdict_line(skipped))


def test_failure_gives_place_source_numbers_and_stack(make_failed, make_finding, tmp_path) -> None:
    source = tmp_path / "mine.py"
    source.write_text("".join(f"line_{number}()\n" for number in range(1, 10)))
    found = make_finding(file=str(source), line=4, stack=(("inner", "/a.py", 1), ("outer", "b", 2)))
    text = shown(make_failed(found))
    first, _, rest = text.partition("\n")
    assert first == "FAIL  my.module:factory violates zero-owned: steady-allocations (1 finding)."
    lines = [line.rstrip() for line in rest.splitlines()]
    where = lines.index(f"  {source}:4 in execute")
    assert lines[where - 1].startswith("steady-allocations: One tensor of 49,152 bytes")
    assert lines[where + 1 : where + 6] == [
        "    2 | line_2()",
        "    3 | line_3()",
        "  > 4 | line_4()",
        "    5 | line_5()",
        "    6 | line_6()",
    ]
    assert lines[where + 6] == (
        "  1,234 allocations, 8,257,536 bytes; owner backend; 5 frames (8-11, 20);"
        " first seen in cycle 1"
    )
    assert lines[where + 8 : where + 10] == ["    inner  /a.py:1", "    outer  b:2"]


def test_file_in_the_current_folder_is_shown_relative(
    make_failed, make_finding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "\n  sub/mine.py:3 in execute" in shown(
        make_failed(make_finding(file=str(tmp_path / "sub/mine.py")))
    )


def test_source_that_cannot_be_read_is_left_out(make_failed, make_finding, tmp_path) -> None:
    pipe = tmp_path / "pipe.py"
    os.mkfifo(pipe)  # opening it would block for ever
    short = tmp_path / "short.py"
    short.write_text("one\n")
    binary = tmp_path / "binary.py"
    binary.write_bytes(b"\xff\x00\x1b[31m\n" * 5)
    for file, line in ((pipe, 1), (short, 9), (tmp_path / "gone.py", 1), ("a\0b", 1), ("x", 0)):
        assert " | " not in shown(make_failed(make_finding(file=str(file), line=line)))
    assert "\x1b" not in shown(make_failed(make_finding(file=str(binary))))


def test_source_and_stack_of_one_place_are_shown_once(make_failed, make_finding) -> None:
    text = shown(make_failed(make_finding(), make_finding(count=7), make_finding(line=5)))
    assert text.count("stack, innermost first") == 2
    assert text.count("(shown above)") == 1
    assert "7 allocations" in text


def test_many_findings_are_cut_and_it_says_so(make_failed, make_finding) -> None:
    text = shown(make_failed(*(make_finding(line=line) for line in range(1, 14))))
    assert "and 3 more findings of steady-allocations" in text


def test_failed_rule_without_a_finding_still_says_why(make_failed) -> None:
    assert "measured 1,234, limit 0" in shown(make_failed())


def test_no_verdict_says_what_happened_and_where(make_report) -> None:
    detail = "\n".join(f"stderr line {number}" for number in range(50))
    failure = Failure("killed", "flush", 2, 17, "It was killed by signal 9.", detail)
    text = shown(make_report(verdict="no-verdict", failure=failure, rules=(), steps=()))
    assert text.startswith(
        "NO VERDICT  my.module:factory was killed in flush, cycle 2, after frame"
    )
    assert "It was killed by signal 9." in text
    assert "(20 lines before)" in text
    assert "stderr line 19\n" not in text
    assert "stderr line 20\n" in text
    assert "stderr line 49\n" in text


def test_steady_steps_teardown_and_first_use_are_tabled(make_report) -> None:
    rows = [" ".join(line.split()) for line in shown(make_report()).splitlines()]
    assert "1-3 2-7 128x96 4 backend 0" in rows
    assert "model 1,204 / 2,943,120" in rows
    assert "threads 1 2 +1" in rows
    assert "live_bytes 1,000 1,000 0" in rows
    assert "runtime: 12,345 bytes in 3 blocks, /lib/python/lazy.py:4 in load" in rows


def test_peaks_come_from_the_run_that_no_tracer_watched(make_report) -> None:
    native = {"threads": Extent(1, 6, 1), "cuda_bytes": Extent(0, 512, 0)}
    teardown = Teardown({"threads": [1, 2], "rss": 7}, {"threads": [1, 2, 3]}, (), native)
    rows = [" ".join(line.split()) for line in shown(make_report(teardown=teardown)).splitlines()]
    assert {"threads 1 6 1 0", "cuda_bytes 0 512 0 0", "rss 7 - changed"} <= set(rows)


HOSTILE = "[bold red]x[/nope] \x1b[2J\x1b]0;owned\x07 \u202e \udcff\r\n[link=http://x]"


@pytest.mark.parametrize("color", [False, True])
def test_text_of_a_backend_is_shown_and_never_obeyed(make_failed, make_finding, color) -> None:
    report = make_failed(
        make_finding(
            text=HOSTILE,
            owner=HOSTILE,
            file=HOSTILE,
            function=HOSTILE,
            stack=((HOSTILE, HOSTILE, 1),),
        ),
        target=HOSTILE,
        workload=HOSTILE,
        replay=HOSTILE,
        notes=(HOSTILE,),
        failure=Failure("crashed", HOSTILE, 1, 0, HOSTILE, HOSTILE),
        teardown=Teardown({HOSTILE: HOSTILE}, {}, (Survivors(HOSTILE, HOSTILE, 1, HOSTILE, 1, 1),)),
    )
    text = shown(report, color=color)
    text.encode()
    assert text.count("[bold red]x[/nope]") >= 14
    for control in ("\x1b[2J", "\x1b]0", "\x07", "\r", "\u202e"):
        assert control not in text


@pytest.mark.parametrize("width", [80, 200])
def test_only_lines_to_be_copied_are_longer_than_the_terminal(
    make_failed, make_finding, width
) -> None:
    long = "word " * 60
    replay = "steadyframe verify " + "x" * 300
    where = "/" + "d" * 250 + "/mine.py"
    report = make_failed(make_finding(text=long, file=where), notes=(long,), replay=replay)
    lines = shown(report, width).splitlines()
    over = [line for line in lines if len(line.rstrip()) > width]
    assert over == [f"  {where}:3 in execute", f"Replay:   {replay}"]


def test_ascii_terminal_gets_ascii_only(make_report) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii", errors="strict")
    render(make_report(), Console(file=stream, width=100))
    stream.flush()
    assert b"PASS" in raw.getvalue()
