"""Commands that each run in a fork of a process which has the libraries loaded.

Under Valgrind the import of torch takes a minute or more, and the child of a process that is under
it is under it as well. There are two such processes, each started when it is needed: with torch,
which makes all that is done in a fork slow, and without it, for most backends do without.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from harness.bench.tools import forker
from harness.bench.tools.watch import clear, watch, words

_HALTED = "import of torch halted"
"""what Python says where torch is not to be had"""


@dataclass(frozen=True)
class Ended:
    """A command that has ended."""

    process: int
    """its id"""
    printed: str
    failed: str
    """why it came to no end of its own, or how it crashed; empty if it ended with 0"""


class Nursery:
    """Runs one command at a time."""

    def __init__(
        self, under: Sequence[str] = (), variables: Mapping[str, str] | None = None
    ) -> None:
        """`under` is a command to run all under, `variables` are added to the environment."""
        self._under = under
        self._folder = tempfile.TemporaryDirectory(prefix="steadyframe-bench-")
        paths = os.pathsep.join(filter(None, sys.path))
        own = {"PYTHONPATH": paths, "PYTHONHASHSEED": "0", "TMPDIR": self._folder.name}
        self._environment = os.environ | own | dict(variables or {})
        self._processes: dict[str, subprocess.Popen[str]] = {}

    def __enter__(self) -> Nursery:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for process in self._processes.values():
            process.kill()
            process.communicate()
        self._folder.cleanup()

    @property
    def folder(self) -> Path:
        """Where commands run, and may leave files; removed at the end."""
        return Path(self._folder.name)

    def run(self, command: Sequence[str]) -> Ended:
        """Run `python -m` with these arguments."""
        ended = self._run(self._process(), command)
        if ended.failed and _HALTED in ended.printed:
            return self._run(self._process(forker.TORCH), command)
        return ended

    def _process(self, library: str = "") -> subprocess.Popen[str]:
        if library not in self._processes:
            self._processes[library] = subprocess.Popen(
                [*self._under, sys.executable, "-m", forker.__name__, *filter(None, [library])],
                cwd=self.folder,
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        return self._processes[library]

    def _run(self, process: subprocess.Popen[str], command: Sequence[str]) -> Ended:
        assert process.stdin is not None
        told = process.stdout
        assert told is not None
        output = self.folder / "output"
        print(json.dumps([str(output), *command]), file=process.stdin, flush=True)
        child = int(told.readline())

        def ended(seconds: float) -> bool:
            return bool(select.select([told], [], [], seconds)[0])

        try:
            failed = watch(child, ended)
            status = int(told.readline())
        finally:
            clear(child)
        return Ended(child, output.read_text(errors="replace"), failed or words(status))
