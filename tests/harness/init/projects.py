"""Projects of other people, as files, and the command run in them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]

INFER = """
import numpy as np

buffer = np.empty(1 << 20, np.uint8)

def infer(frame):
    out = buffer[: frame.data.size].reshape(frame.data.shape)
    return np.invert(frame.data, out=out)
"""

PROTOCOL = """
from collections import deque

class Filter:
    def __init__(self, nireq=1):
        self.ready = deque()

    def execute(self, frame):
        self.ready.append(frame.pts)

    def get_result(self):
        return self.ready.popleft() if self.ready else None

    def flush(self):
        pass

    def close(self):
        self.ready.clear()
"""

OPENS = PROTOCOL.replace("nireq=1", "nireq") + "\ndef open_filter():\n    return Filter(2)\n"

CLOSURE = """
def open_mine():
    def infer(frame):
        return frame.data
    return infer
"""

TRAP = "raise SystemExit('imported')\n"
"""what every source may begin with: it is only parsed"""


def write(folder: Path, files: dict[str, str]) -> Path:
    """The project."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def init(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`steadyframe init` in it."""
    return run(folder, "harness", "init", *arguments)


def run(folder: Path, module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A module of Python's, in the folder; without what pytest sets for its own children."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=folder, env=environment | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
    )  # fmt: skip


def tree(folder: Path) -> dict[str, str]:
    """All files, with their text."""
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
