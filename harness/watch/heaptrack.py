"""Where memory was allocated that was not freed: heaptrack, where it is installed.

`heaptrack --raw` runs a command and writes down what its malloc does; what is written is read
afterwards, so that the reading needs no memory and no processor while the command is watched.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import msgspec
import psutil

from harness.errors import UsageError

NOTE = (
    "heaptrack's own memory in the process is counted, too; sites are of all that was not freed "
    "when it ended, also of what is needed until then"
)
MOST_SITES = 10
MOST_CALLERS = 6
_DATA = "heaptrack"
_INTERPRETER = "../lib/heaptrack/libexec/heaptrack_interpret"
"""from the folder of the script, where that looks for it too"""
_READERS = {".zst": "zstd", ".gz": "gzip"}
"""what unpacks its data, which the script chooses by what is installed"""
_SIZES = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}

_SITE = re.compile(r"^(?P<size>[\d.]+)(?P<unit>[KMGT]?)B? leaked over (?P<calls>\d+) calls? from$")
_AT = re.compile(r"^\s+at (?P<place>\S.*:\d+)$")
_IN = re.compile(r"^\s+in (?P<library>\S.*)$")


class Site(msgspec.Struct, frozen=True):
    """Code whose allocations were not freed when the process ended."""

    bytes: int
    """to three or four digits, as heaptrack prints it"""
    calls: int
    """of malloc there, also for what was freed"""
    function: str
    place: str
    """FILE:LINE, or the library where there are no debug symbols"""
    callers: tuple[str, ...]
    """of its first stack, innermost first"""


def check() -> None:
    """Raise UsageError if heaptrack is not installed."""
    for program in ("heaptrack", "heaptrack_print"):
        if shutil.which(program) is None:
            raise UsageError(
                f"--sites needs {program}, which is not installed: install heaptrack "
                "(on Debian its package of that name), or leave --sites out"
            )


def under(command: Sequence[str], folder: Path) -> list[str]:
    """The command to run instead of `command`; it writes into `folder`."""
    return ["heaptrack", "--raw", "-o", str(folder / _DATA), *command]


def beside(root: psutil.Process, process: psutil.Process) -> bool:
    """Whether a process is heaptrack's own: its script, the root, and what packs its data."""
    if process == root:
        return True
    packs = process.cmdline() in [[program, "-c"] for program in _READERS.values()]
    return packs and process.ppid() == root.pid


def sites(folder: Path) -> list[Site]:
    """Those with the most bytes, largest first.

    Raises UsageError if heaptrack wrote nothing that it can read.
    """
    script, printer = shutil.which("heaptrack"), shutil.which("heaptrack_print")
    found = sorted(folder.glob(f"{_DATA}.raw.*"))
    if script is None or printer is None or not found:
        raise UsageError("heaptrack wrote no data: run COMMAND under heaptrack to see why")
    raw, text = found[0], folder / f"{_DATA}.txt"
    interpreter = Path(script).resolve().parent / _INTERPRETER
    try:
        with text.open("wb") as out, raw.open("rb") as packed:
            unpack = subprocess.Popen(
                [_READERS[raw.suffix], "-dc"],
                stdin=packed, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            with unpack:
                subprocess.run(
                    [interpreter], stdin=unpack.stdout, stdout=out, stderr=subprocess.DEVNULL,
                    check=True,
                )  # fmt: skip
        printed = subprocess.run(
            [printer, "-f", text, "-p", "0", "-a", "0", "-T", "0", "-l", "1",
             "-n", str(MOST_SITES), "-s", "1"],
            capture_output=True, text=True, errors="replace", check=True,
        )  # fmt: skip
    except (OSError, KeyError, subprocess.CalledProcessError) as error:
        raise UsageError(f"heaptrack's data can't be read ({error}): leave --sites out") from None
    return list(parse(printed.stdout))


def parse(printed: str) -> Iterator[Site]:
    """The sites in what `heaptrack_print --print-leaks 1` prints."""
    lines = printed.splitlines()
    starts = [number for number, line in enumerate(lines) if _SITE.match(line)]
    for start, end in pairwise([*starts, len(lines)]):
        head = _SITE.match(lines[start])
        assert head is not None
        frames = list(_frames(lines[start + 1 : end]))
        if not frames:
            continue
        yield Site(
            bytes=round(float(head["size"]) * _SIZES[head["unit"]]),
            calls=int(head["calls"]),
            function=frames[0][0],
            place=frames[0][1],
            callers=tuple(f"{name} ({place})" for name, place in frames[1 : MOST_CALLERS + 1]),
        )


def _frames(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(function, place) of the lines after a site's first one: a name, `at`, `in`, and so on."""
    name = place = ""
    for line in lines:
        if at := _AT.match(line):
            place = at["place"]
        elif library := _IN.match(line):
            if name:
                yield name, place or library["library"]
            name = place = ""
        elif not line.strip() or " leaked over " in line:
            name = place = ""
        else:
            name = line.strip()
