"""A parent that is interrupted or killed leaves no process and no folder behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]

PARENT = """
import sys
from harness.verify import verify

def progress(at):
    if at.phase == sys.argv[2]:
        print(at.phase, flush=True)

verify(sys.argv[1], "32x32@25*12", cycles=1, quick=True, progress=progress)
"""

TARGETS = {
    "start": "def f(frame): return frame",
    "execute": "import time\ndef f(frame): time.sleep(1000)",
    # A child of the run's own, in a session of its own, that holds its output open.
    "open": """
import os, time
def f():
    if os.fork() == 0:
        os.setsid()
    time.sleep(1000)
""",
}


def wait_for(condition: Callable[[], bool], seconds: float = 20) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def descendants(marker: str) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                environment = (entry / "environ").read_bytes()
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if marker.encode() in environment and state != "Z":
                found.append(entry.name)
    return found


@pytest.mark.parametrize(
    ("number", "phase"),
    [
        (signal.SIGINT, "start"),
        (signal.SIGINT, "execute"),
        (signal.SIGINT, "analyse"),
        (signal.SIGKILL, "start"),
        (signal.SIGKILL, "open"),
        (signal.SIGKILL, "analyse"),
    ],
)
def test_nothing_is_left(tmp_path: Path, number: signal.Signals, phase: str) -> None:
    temp = tmp_path / "temp"
    temp.mkdir()
    target = tmp_path / "target.py"
    target.write_text(TARGETS.get(phase, TARGETS["start"]))
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    marker = f"PARENT_MARKER={tmp_path}"
    parent = subprocess.Popen(
        [sys.executable, str(script), f"{target}:f", phase],
        env={
            **os.environ,
            "PYTHONPATH": str(REPOSITORY),
            "TMPDIR": str(temp),
            "PARENT_MARKER": str(tmp_path),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    if phase == "start":
        # While the helper process is still importing torch.
        assert wait_for(lambda: any(temp.iterdir()))
    else:
        line = parent.stdout.readline().strip()
        assert line == phase, parent.communicate()[1]
    parent.send_signal(number)
    _, errors = parent.communicate(timeout=30)
    assert parent.returncode == -number
    assert wait_for(lambda: not descendants(marker)), descendants(marker)
    assert wait_for(lambda: not any(temp.iterdir())), list(temp.iterdir())
    if number == signal.SIGINT:
        assert errors.rstrip().endswith("KeyboardInterrupt")
        assert "FileNotFoundError" not in errors
    else:
        assert errors == ""


def test_a_helper_that_is_still_importing_ends_with_its_parent(tmp_path: Path) -> None:
    """It looks up from there, and not only when it is done."""
    temp, stuck = tmp_path / "temp", tmp_path / "stuck"
    temp.mkdir()
    stuck.mkdir()
    (stuck / "torch.py").write_text(
        f"import pathlib, time\npathlib.Path({str(tmp_path / 'importing')!r}).touch()\n"
        "while True: time.sleep(1000)"
    )
    target, script = tmp_path / "target.py", tmp_path / "parent.py"
    target.write_text(TARGETS["start"])
    script.write_text(PARENT)
    parent = subprocess.Popen(
        [sys.executable, str(script), f"{target}:f", "never"],
        env={
            **os.environ,
            "PYTHONPATH": f"{REPOSITORY}{os.pathsep}{stuck}",
            "TMPDIR": str(temp),
            "PARENT_MARKER": str(tmp_path),
        },
    )
    assert wait_for(lambda: (tmp_path / "importing").exists() and any(temp.iterdir()))
    parent.kill()
    parent.wait()
    assert wait_for(lambda: not descendants(f"PARENT_MARKER={tmp_path}"))
    assert not any(temp.iterdir())


# Killed when a run's folder is there and no helper has been told of it; and with another folder
# there, of a run whose helper has gone on to the next.
KILLED = """
import os, signal, tempfile
from harness import zygotes

def start(helper, folder):
    tempfile.mkdtemp(prefix=zygotes.run_folders())
    os.kill(os.getpid(), signal.SIGKILL)

zygotes.Zygote.start = start
"""


def test_folders_that_no_helper_was_told_of_are_removed_and_nobody_elses(tmp_path: Path) -> None:
    temp = tmp_path / "temp"
    others = temp / "steadyframe-1-00000000-x"
    others.mkdir(parents=True)
    target, script = tmp_path / "target.py", tmp_path / "parent.py"
    target.write_text(TARGETS["start"])
    script.write_text(KILLED + PARENT)
    parent = subprocess.run(
        [sys.executable, str(script), f"{target}:f", "never"],
        env={
            **os.environ,
            "PYTHONPATH": str(REPOSITORY),
            "TMPDIR": str(temp),
            "PARENT_MARKER": str(tmp_path),
        },
        check=False,
    )
    assert parent.returncode == -signal.SIGKILL
    assert wait_for(lambda: not descendants(f"PARENT_MARKER={tmp_path}"))
    assert list(temp.iterdir()) == [others]
