"""What the plugin costs a session that doesn't use it: next to nothing."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

HEAVY = ("torch", "memray", "numpy", "hypothesis", "rich", "msgspec", "psutil")


def test_nothing_heavy_is_imported_by_a_session_that_does_not_use_it(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import atexit, json, sys\n"
        "def at_the_end():\n"
        "    with open('modules.json', 'w') as out:\n"
        "        json.dump(sorted(sys.modules), out)\n"
        "def test_it(request):\n"
        "    assert request.config.pluginmanager.has_plugin('steadyframe')\n"
        "    atexit.register(at_the_end)\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:hypothesispytest", "test_it.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    modules = json.loads((tmp_path / "modules.json").read_text())
    assert [name for name in modules if name.split(".")[0] in HEAVY] == []
    own = [name for name in modules if name.split(".")[0] in ("harness", "backend")]
    assert own == [
        "harness",
        "harness.errors",
        "harness.pytest_plugin",
        "harness.pytest_plugin.steady",
        "harness.pytest_plugin.summary",
        "harness.words",
    ]


def test_its_import_takes_but_a_moment() -> None:
    """As measured by the interpreter in this very session's way: pytest imported before."""
    command = [sys.executable, "-X", "importtime", "-c", "import pytest, harness.pytest_plugin"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    [micros] = re.findall(r"\|\s+(\d+) \| harness\.pytest_plugin$", done.stderr, re.MULTILINE)
    assert int(micros) < 50_000
