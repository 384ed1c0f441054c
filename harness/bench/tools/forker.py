"""Runs `python -m MODULE ARGUMENTS`, each in a fork of this process, which has libraries loaded.

Of standard input it reads a command per line, as JSON: the file that takes what it prints, the
module and its arguments. It writes a line with the child's id, and one with its returncode.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import sys
from collections.abc import Sequence

TORCH = "torch"
_PRELOADED = "numpy", "pytest", "harness.bench.plain"


def serve(also: Sequence[str]) -> None:
    """Load what there is to load, and run commands. In a child it returns, for the interpreter to
    end as it ever does."""
    for module in (*_PRELOADED, *also):
        importlib.import_module(module)
    if TORCH not in also:
        sys.modules[TORCH] = None  # type: ignore[assignment]  # Python's mark of what can't be had
    for line in sys.stdin:
        output, module, *arguments = json.loads(line)
        if (child := os.fork()) == 0:
            os.setpgid(0, 0)
            _become(output)
            sys.argv = [module, *arguments]
            runpy.run_module(module, run_name="__main__", alter_sys=True)
            return
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _become(output: str) -> None:
    """Give up the parent's streams, which are its way to be told of commands."""
    printed = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for old, new in ((nothing, 0), (printed, 1), (printed, 2)):
        os.dup2(old, new)
    os.close(printed)
    os.close(nothing)


if __name__ == "__main__":
    serve(sys.argv[1:])
