"""Real processes, some seconds each, at rates scaled up to that; the slow ones are in the soak."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.harness.watch.running import Done, Watch, program

RATE = 400_000
SHORT = ("--interval", "0.02", "--fps", "25")
SAMPLES = 250
"""at that interval, five seconds"""
LONG = ("--duration", "60")
FFMPEG = [
    "ffmpeg", "-nostdin", "-loglevel", "error", "-re",
    "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25", "-f", "null", "-",
]  # fmt: skip

VERDICTS = {
    "leak": (1, "fail"),
    "warm_up": (0, "pass"),
    "sawtooth": (0, "pass"),
    "flat": (0, "pass"),
    "children": (0, "pass"),
}


@pytest.fixture(scope="module", name="done")
def _done(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Done]:
    """All of them side by side: they mostly sleep."""
    watches = {
        name: Watch(
            tmp_path_factory.mktemp(name), *SHORT, "--", *program(name, RATE), samples=SAMPLES
        )
        for name in VERDICTS
    }
    return {name: watch.done() for name, watch in watches.items()}


@pytest.mark.parametrize("name", sorted(VERDICTS))
def test_verdict(name: str, done: dict[str, Done]) -> None:
    code, verdict = VERDICTS[name]
    found = done[name]
    assert (found.code, found.report["verdict"]) == (code, verdict), found.out
    assert len(found.report["samples"]) == SAMPLES


def test_growth_is_told_per_second_and_per_frame(done: dict[str, Done]) -> None:
    trend = done["leak"].report["trend"]
    # It makes up for lost time, however busy the machine; malloc adds some bytes to each block.
    assert trend["per_second"] == pytest.approx(RATE, rel=0.1)
    assert RATE * 0.8 < trend["low"] <= trend["per_second"] <= trend["high"] < RATE * 1.25
    rates = [trend[name] for name in ("per_second", "low", "high")]
    assert trend["per_frame"] == pytest.approx([rate / 25 for rate in rates])
    assert done["leak"].out.startswith("FAIL  ")
    assert "per frame at 25 fps" in done["leak"].out
    assert re.search(r"memory +[▁-█]{20,60}$", done["leak"].out, re.MULTILINE)


def test_children_are_seen(done: dict[str, Done]) -> None:
    processes = [sample["processes"] for sample in done["children"].report["samples"]]
    assert max(processes) == 2


def test_the_watched_command_is_ended_with_the_watch(done: dict[str, Done]) -> None:
    assert done
    running = [process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])]
    for name in VERDICTS:
        assert program(name, RATE) not in running


def test_output_of_the_command_and_its_exit(tmp_path: Path) -> None:
    done = Watch(tmp_path, "--", "sh", "-c", "echo out; echo err >&2; exit 5").done()
    assert done.code == 3
    assert done.out.startswith("NO VERDICT")
    assert "the command ended with exit code 5 after" in done.out
    assert done.err == "out\nerr\n"
    assert done.report["exit_code"] == 5


def test_a_signal_that_ended_the_command_is_named(tmp_path: Path) -> None:
    done = Watch(tmp_path, "--quiet", "--", "sh", "-c", "kill -SEGV $$").done()
    assert done.code == 3
    assert "ended by SIGSEGV" in done.out
    assert done.out.count("\n") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_watch_ends_the_command_and_reports(
    number: signal.Signals, tmp_path: Path
) -> None:
    watch = Watch(tmp_path, "--interval", "0.01", "--", *program("leak", 2_000_000))
    _wait_for_child(watch)
    time.sleep(1)
    [child] = psutil.Process(watch.process.pid).children()
    watch.process.send_signal(number)
    done = watch.done()
    assert not child.is_running()
    assert done.report["ending"] == "the watch was interrupted"
    assert done.report["samples"]
    assert done.code == {"fail": 1, "no-verdict": 3}[done.report["verdict"]], done.out
    assert "the watch was interrupted" in done.out
    assert "Traceback" not in done.err


def test_a_command_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    stubborn = "trap '' TERM INT; while :; do sleep 1; done"
    watch = Watch(tmp_path, "--duration", "0.5", "--", "sh", "-c", stubborn)
    done = watch.done()
    assert done.code == 3
    assert stubborn not in str([p.info["cmdline"] for p in psutil.process_iter(["cmdline"])])


def test_a_process_by_its_number_is_left_alone(tmp_path: Path) -> None:
    with subprocess.Popen(program("flat")) as process:
        try:
            done = Watch(tmp_path, *SHORT, "--pid", str(process.pid), samples=100).done()
            assert process.poll() is None
        finally:
            process.kill()
    assert done.code == 0, done.out
    assert done.report["ending"] == "the watch was interrupted"
    assert done.report["watched"] == f"process {process.pid}"
    assert done.report["exit_code"] is None


@pytest.mark.soak
def test_a_process_that_ends_while_it_is_watched(tmp_path: Path) -> None:
    """What it gives back as it ends hides no growth."""
    command = program("leak", 2_000_000, 20)
    done = Watch(tmp_path, "--interval", "0.02", "--", *command).done()
    assert done.report["ending"] == "the command ended with exit code 0"
    assert done.code == 1, done.out


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="ffmpeg is not installed")
def test_ffmpeg_does_not_drift(tmp_path: Path) -> None:
    done = Watch(tmp_path, *SHORT, "--", *FFMPEG, samples=150).done()
    assert done.code == 0, done.out


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become another user")
def test_another_users_process_is_no_verdict_in_one_line() -> None:
    code = (
        "import os, sys; sys.path.insert(0, '.')\n"
        "from harness import cli, commands\n"
        "from harness.report import watch_progress, watch_terminal\n"
        "from harness.watch import judge, session\n"
        "os.setuid(65534); sys.exit(cli.main(['watch', '--quiet', '--pid', '1']))"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert done.returncode == 3, done.stderr
    assert done.stdout.startswith("NO VERDICT  process 1: the memory of process 1 (")
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


@pytest.mark.soak
@pytest.mark.parametrize(
    ("command", "code"),
    [
        (program("leak", 10_000), 1),
        (program("leak", (1 << 20) / 60), 1),
        (program("warm_up"), 0),
        (program("sawtooth"), 0),
        (program("flat"), 0),
        (program("children"), 0),
        (FFMPEG, 0),
    ],
    ids=["10 kB a second", "1 MB a minute", "warm-up", "sawtooth", "flat", "children", "ffmpeg"],
)
def test_a_minute(command: list[str], code: int, tmp_path: Path) -> None:
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    done = Watch(tmp_path, *LONG, "--", *command).done()
    assert done.code == code, done.out


def _wait_for_child(watch: Watch) -> None:
    until = time.monotonic() + 60
    while not psutil.Process(watch.process.pid).children() and time.monotonic() < until:
        time.sleep(0.05)
