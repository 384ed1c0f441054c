"""The command, as a user runs it, and the programs that it watches."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

PROGRAM = Path(__file__).with_name("program.py")
BOUNDED = PROGRAM.with_name("bounded.py")
ROOT = Path(__file__).parents[3]


def program(name: str, *arguments: object) -> list[str]:
    """The command line of a program."""
    return [sys.executable, "-S", str(PROGRAM), name, *map(str, arguments)]


class Done(NamedTuple):
    """What a watch came to."""

    code: int
    out: str
    err: str
    report: dict[str, Any]


class Watch:
    """A watch that goes on until `done` is asked for; several may, side by side."""

    def __init__(self, folder: Path, *arguments: str, samples: int = 0) -> None:
        """It is interrupted after so many `samples`, if any are told."""
        self._json = folder / "watch.json"
        bounded = [str(BOUNDED), str(samples)] if samples else ["-m", "harness", "watch"]
        self.process = subprocess.Popen(
            [sys.executable, *bounded, "--no-color", "--json", str(self._json), *arguments],
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def done(self) -> Done:
        out, err = self.process.communicate(timeout=300)
        report = json.loads(self._json.read_text()) if self._json.exists() else {}
        return Done(self.process.returncode, out, err, report)
