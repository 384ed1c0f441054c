"""The main job: the shipped models on one real video, sync and async, each with its report."""

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
from harness.report.summary import growth_events, leaks, steady_allocations, steady_steps
from harness.report.text import clean
from harness.report.verdict import WORDS
from harness.result import Report, Verdict
from harness.targets import resolve

if TYPE_CHECKING:
    from harness.report.progress import Observer

CLIP = "clip.h264"
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


CASES: tuple[Case, ...] = tuple(
    Case(f"{model}-{mode}", model, MappingProxyType({"mode": mode, "nireq": 4}))
    for model in ("espcn", "dncnn")
    for mode in ("sync", "async")
)


def run(video: Path | None, output: Path, watch: Watch) -> list[tuple[Case, Report]]:
    """Verify every case on the video (the project's own clip if None), write the reports."""
    for case in CASES:
        resolve(case.target)  # a copy that is not installed is told so before anything is made
    _make_folder(output)
    remove_stale(output)
    clip = video if video is not None else _own_clip(output)
    done: list[tuple[Case, Report]] = []
    for number, case in enumerate(CASES, 1):
        with watch(f"{case.name} ({number} of {len(CASES)})") as observer:
            report = _verify(case, clip, observer)
        write(output / f"{case.name}.json", to_json(report))
        done.append((case, report))
    return done


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
    current = [f"{case.name}.json" for case in CASES]
    for name in {*names, *current}:
        if Path(name).name == name and name.endswith(".json"):
            (output / name).unlink(missing_ok=True)
    write(output / INDEX, msgspec.json.encode(current).decode() + "\n")


def _own_clip(output: Path) -> Path:
    clip = output / CLIP
    if not clip.exists():
        from harness.clip import make_clip

        make_clip(clip)
    return clip


def worst(reports: Iterable[Report]) -> Verdict:
    """The verdict on all cases: fail is worse than no-verdict, which is worse than pass.

    A violation is established, whatever happened to the other cases.
    """
    return max((report.verdict for report in reports), key=("pass", "no-verdict", "fail").index)


def table(done: Iterable[tuple[Case, Report]]) -> Table:
    """The cases side by side."""
    shown = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    shown.add_column("case", no_wrap=True)
    shown.add_column("verdict", no_wrap=True)
    shown.add_column("steady\nsteps", justify="right")
    shown.add_column("allocations per\nsteady step", no_wrap=True)
    shown.add_column("growth\nevents", justify="right")
    shown.add_column("survivors", justify="right")
    shown.add_column("time", justify="right")
    for case, report in done:
        shown.add_row(
            case.name,
            Text(WORDS[report.verdict]),
            f"{len(steady_steps(report)):,}",
            Text(_allocations(report)),
            f"{growth_events(report):,}",
            _survivors(report),
            f"{report.cost.wall_s:.1f} s",
        )
    return shown


def _allocations(report: Report) -> str:
    return "\n".join(
        f"{clean(owner)} {least:,}" + (f"..{most:,}" if most != least else "")
        for owner, (least, most) in steady_allocations(report).items()
    )


def _survivors(report: Report) -> str:
    left = leaks(report)
    return "unknown" if left is None else f"{left[0]:,}"


def render(done: list[tuple[Case, Report]], output: Path, console: Console) -> None:
    """Print the table of cases and where their reports are."""
    console.print(table(done))
    console.print(Text(f"\nReports: {clean(str(output / '*.json'))}"), soft_wrap=True)
