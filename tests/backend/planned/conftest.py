"""What the tests of the planned executor share: a process that measures networks."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]


class Server:
    """Sends networks to the measuring process, which is started once."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "tests.backend.planned.server"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def measure(self, parts: list[Any], channels: int, size: tuple[int, int], lanes: int) -> Any:
        """What the process says of a network."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        width, height = size
        job = {
            "parts": parts,
            "channels": channels,
            "height": height,
            "width": width,
            "lanes": lanes,
        }
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, "the measuring process ended"
        return json.loads(answer)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)


@pytest.fixture(scope="session")
def server() -> Any:
    """The measuring process."""
    started = Server()
    yield started
    started.close()
