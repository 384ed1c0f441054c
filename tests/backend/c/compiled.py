"""The library of this folder, built with the C compiler of the machine."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from backend.clibrary import HEADER

SOURCE = Path(__file__).with_name("inverts.c")


def compiled(folder: Path, *planted: str) -> str:
    """Path of the library, with these faults planted. Skips the test if there is no compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler is installed")
    library = folder / f"{'-'.join(['inverts', *planted]).lower()}.so"
    command = [compiler, "-shared", "-fPIC", "-g", "-O1", f"-I{HEADER.parent}"]
    command += ["-Wall", "-Wextra", "-Werror", *(f"-D{fault}" for fault in planted)]
    subprocess.run([*command, str(SOURCE), "-o", str(library)], check=True)
    return str(library)


def line_of(fault: str) -> int:
    """Number of the line that ends in this fault's comment."""
    lines = SOURCE.read_text().splitlines()
    (line,) = [n for n, text in enumerate(lines, 1) if text.endswith(f"/* fault {fault} */")]
    return line
