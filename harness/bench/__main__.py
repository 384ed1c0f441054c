"""`make bench`: every figure that is claimed, measured side by side in one run.

Writes `bench.json` with all raw values, and a page; prints the same tables. After each section what
is done is written, so that a run that is broken off has not been in vain.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from rich.live import Live
from rich.text import Text

from harness import environment
from harness.bench import detection, optional, overhead, scaling, sensitivity, speed, terminal
from harness.bench.ending import exit_code
from harness.bench.page import bench_page
from harness.bench.section import Bench, Section, Tell
from harness.errors import UsageError, meant
from harness.report.console import make_console, say
from harness.report.files import check_writable, write
from harness.report.pages import write_script

SCHEMA = 1
JSON = "bench.json"
PAGE = "index.html"
DEFAULT_OUTPUT = Path("reports/bench")
DEFAULT_TURNS = 3

# torch and the other runtimes stay in this process once they are loaded: last.
SECTIONS: dict[str, Callable[[int, Tell], Section]] = {
    "harness": overhead.measure,
    "scaling": scaling.measure,
    "sensitivity": sensitivity.measure,
    "matrix": detection.measure,
    "backend": speed.measure,
}


def main(argv: Sequence[str]) -> int:
    """Run sections; 0 if every target that was measured is met, 1 if not, 2 for bad usage."""
    return exit_code(lambda: _meets_all(argv))


def _meets_all(argv: Sequence[str]) -> bool:
    options = _parser().parse_args(argv)
    bench = run(_chosen(options.only), options.turns, options.output)
    return all(target.met is not False for target in bench.targets)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m harness.bench", description=__doc__)
    parser.add_argument("--only", default="", help=f"of {','.join(SECTIONS)}, separated by commas")
    parser.add_argument("--turns", type=int, default=DEFAULT_TURNS, help="of each contestant")
    parser.add_argument("--output", type=Path, default=DEFAULT_OUTPUT, help="a folder")
    return parser


def _chosen(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()] or list(SECTIONS)
    for name in names:
        if name not in SECTIONS:
            raise UsageError(f"there is no section {name!r}: {meant(name, SECTIONS)}")
    return [name for name in SECTIONS if name in names]


def run(names: Sequence[str], turns: int, output: Path) -> Bench:
    """Measure these sections, print and write them. Raises UsageError."""
    if turns < 1:
        raise UsageError(f"{turns} turns measure nothing: give at least 1")
    _prepare(output)
    started, date = time.monotonic(), datetime.now(UTC).isoformat(timespec="seconds")
    peers = optional.versions()
    sections: list[Section] = []
    console = make_console(sys.stderr, no_color=False)
    # No thread moves a spinner: it would allocate, and take time, beside what is measured.
    with Live(console=console, auto_refresh=False, transient=True) as live:
        for number, name in enumerate(names, 1):
            place = f"{name} ({number} of {len(names)})"
            sections.append(SECTIONS[name](turns, _teller(live, place)))
            seconds = time.monotonic() - started
            bench = Bench(SCHEMA, date, seconds, environment.describe(), peers, sections)
            _write(bench, output)
            console.print(f"{place}: done after {seconds:.0f} s")
    shown = make_console(sys.stdout, no_color=False)
    if not shown.is_terminal:
        shown.width = terminal.WIDTH
    with shown.capture() as captured:
        terminal.render(bench, shown)
    say(f"{captured.get()}\nPage: {output / PAGE}\n")
    return bench


def _teller(live: Live, place: str) -> Tell:
    return lambda at: live.update(Text(f"{place}: {at}"), refresh=True)


def _prepare(output: Path) -> None:
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the folder {output} ({error.strerror})") from error
    check_writable(output / JSON)
    write_script(output)


def _write(bench: Bench, output: Path) -> None:
    text = msgspec.json.format(msgspec.json.encode(bench), indent=2).decode()
    write(output / JSON, f"{text}\n")
    # From what was written: the page shows nothing that is not in there.
    write(output / PAGE, bench_page(msgspec.json.decode(text, type=Bench)))


if __name__ == "__main__":
    # Before torch is loaded: it makes so many threads once and for all.
    os.environ.setdefault("OMP_NUM_THREADS", str(max(speed.THREADS)))
    raise SystemExit(main(sys.argv[1:]))
