"""What a bench compares with and need not be there: its version, or how it is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from importlib import metadata

PACKAGES = ("onnx", "onnxruntime", "openvino", "psleak", "pytest-memray")
PROGRAMS = ("heaptrack", "valgrind")
MISSING = "missing"
"""what a cell says of a peer that is not there"""
_INSTALL_PACKAGES = "pip install -c constraints.txt -e '.[bench]'"


def remedy(name: str) -> str | None:
    """The command that installs a missing peer, None if it is there."""
    if name in PROGRAMS:
        return None if shutil.which(name) else f"apt-get install {name}"
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return _INSTALL_PACKAGES
    return None


def versions() -> dict[str, str]:
    """Of every peer."""
    return {name: version(name) for name in (*PACKAGES, *PROGRAMS)}


def version(name: str) -> str:
    """Its version, or that it is missing and how to install it."""
    if (command := remedy(name)) is not None:
        return f"{MISSING}: {command}"
    if name in PACKAGES:
        return metadata.version(name)
    done = subprocess.run(
        [name, "--version"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    found = re.search(r"\d[\w.]*", done.stdout)
    return found[0] if found else done.stdout.strip()


def notes(*names: str) -> list[str]:
    """A line for each of these that is missing."""
    return [
        f"{name} is {MISSING}: {command}" for name in names if (command := remedy(name)) is not None
    ]
