"""The main job: shipped models on one real video, sync, async and by plan, each with its report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

import msgspec
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.report.files import check_writable, write
from harness.report.json import to_json
from harness.report.numbers import numbers_of
from harness.report.text import clean
from harness.report.verdict import WORDS
from harness.result import Report
from harness.targets import resolve

if TYPE_CHECKING:
    from harness.report.progress import Observer

CLIP = "clip.h264"
INDEX_PAGE = "index.html"
INDEX = "cases.json"
"""names the reports that `run` wrote: the next one takes them away, and no other file"""

Watch: TypeAlias = "Callable[[str], AbstractContextManager[Observer | None]]"
"""From the label of a case to what observes its run."""


@dataclass(frozen=True, slots=True)
class Case:
    """One backend as it is verified: its name, target and options."""

    name: str
    target: str
    options: Mapping[str, object]


def _case(name: str, target: str, mode: str) -> Case:
    return Case(name, target, MappingProxyType({"mode": mode, "nireq": 4}))


CASES: tuple[Case, ...] = (
    _case("espcn-sync", "espcn", "sync"),
    _case("espcn-async", "espcn", "async"),
    _case("dncnn-sync", "dncnn", "sync"),
    _case("dncnn-async", "dncnn", "async"),
    _case("planned", "planned", "async"),
)


def run(video: Path | None, output: Path, watch: Watch) -> list[tuple[Case, Report]]:
    """Verify every case on the video (the project's own clip if None), write the reports."""
    from harness.report.pages import write_script

    for case in CASES:
        resolve(case.target)  # a copy that is not installed is told so before anything is made
    _make_folder(output)
    remove_stale(output)
    write_script(output)
    clip = video if video is not None else _own_clip(output)
    done: list[tuple[Case, Report]] = []
    for number, case in enumerate(CASES, 1):
        with watch(f"{case.name} ({number} of {len(CASES)})") as observer:
            report = _verify(case, clip, observer)
        write(output / f"{case.name}.json", to_json(report))
        done.append((case, report))
    _write_pages(done, output)
    return done


def _write_pages(done: Iterable[tuple[Case, Report]], output: Path) -> None:
    from harness.report import html

    entries = [
        html.Entry(case.name, report, f"{case.name}.html", f"{case.name}.json")
        for case, report in done
    ]
    for entry in entries:
        write(output / entry.page, html.case_page(entry.name, entry.report, home=INDEX_PAGE))
    write(output / INDEX_PAGE, html.index_page(entries))


def _verify(case: Case, clip: Path, observer: Observer | None) -> Report:
    from harness.verify import verify

    return verify(case.target, video=clip, options=case.options, progress=observer)


def _make_folder(output: Path) -> None:
    with suppress(OSError):  # check_writable says what is wrong with it
        output.mkdir(parents=True, exist_ok=True)
    check_writable(output / INDEX)


def remove_stale(output: Path) -> None:
    """Take away the reports of earlier calls, and no other file: what is there is from this one."""
    try:
        names = msgspec.json.decode((output / INDEX).read_bytes(), type=list[str])
    except (OSError, msgspec.DecodeError):
        names = []
    current = [f"{case.name}.{kind}" for case in CASES for kind in ("json", "html")]
    current.append(INDEX_PAGE)
    for name in {*names, *current}:
        if Path(name).name == name and name.endswith((".json", ".html")):
            (output / name).unlink(missing_ok=True)
    write(output / INDEX, msgspec.json.encode(current).decode() + "\n")


def _own_clip(output: Path) -> Path:
    clip = output / CLIP
    if not clip.exists():
        from harness.clip import make_clip

        make_clip(clip)
    return clip


def table(done: Iterable[tuple[Case, Report]]) -> Table:
    """The cases side by side, 80 columns wide or less as long as owners have short names."""
    shown = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    shown.add_column("case", no_wrap=True)
    shown.add_column("verdict", no_wrap=True)
    shown.add_column("steady\nsteps", justify="right", no_wrap=True)
    shown.add_column("allocations per\nsteady step", overflow="fold")
    shown.add_column("growth\nevents", justify="right", no_wrap=True)
    shown.add_column("survivors", justify="right", no_wrap=True)
    shown.add_column("time", justify="right", no_wrap=True)
    for case, report in done:
        found = numbers_of(report)
        shown.add_row(
            case.name,
            Text(WORDS[report.verdict]),
            found.steady,
            Text("\n".join(map(clean, found.allocations))),
            found.growth,
            found.survivors,
            found.time,
        )
    return shown


def render(done: list[tuple[Case, Report]], output: Path, console: Console) -> None:
    """Print the table of cases and where their reports are."""
    console.print(table(done))
    console.print(Text(f"\nReports: {clean(str(output / INDEX_PAGE))}"), soft_wrap=True)
