"""What the parent asks of a measured child, and what the child answers: plain data in files.

A run has a folder of its own. The parent writes `spec.json` there; the child leaves `outcome.json`,
`trace.bin` (memray), `progress` (mapped by both), `journal`, `stdout` and `stderr`. All of them
outlive a child that crashes.
"""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Any

import msgspec

from harness.inject.points import Failing
from harness.probes.garbage import Garbage
from harness.result import Arena, Failure, StackFrame

SPEC = "spec.json"
OUTCOME = "outcome.json"
TRACE = "trace.bin"
PROGRESS = "progress"
JOURNAL = "journal"
SAMPLES = "samples"
LINES = "lines.json"
RESULTS = "results"
REPRESENTATIVES = "representatives"
STDOUT = "stdout"
STDERR = "stderr"
FAREWELL = b"\n"
"""to a helper process, in the place of a run's folder: its parent needs it no more"""


class Lateness(msgspec.Struct, frozen=True):
    """How a run in real time kept up."""

    wanted_s: float
    """seconds that its frames take to arrive"""
    late: int
    """frames whose results were not in when the next ones were due"""
    most_s: float
    """the most seconds that any result came after that"""


class RunSpec(msgspec.Struct, frozen=True):
    """One workload through one backend: all that the child must know."""

    target: str
    """`package.module:factory` or `path/to/file.py:factory`"""
    options: dict[str, Any]
    """keyword arguments of the factory"""
    workload: str | None
    video: str | None
    cycles: int
    instrument: str
    """one of harness.instruments.INSTRUMENTS"""
    seed: int
    patience_s: float
    """how long a thread of the backend may go on without rest after a step"""
    sys_path: tuple[str, ...]
    cwd: str
    least_frames: int = 0
    """a cycle goes through the whole workload again and again until it has so many; pts go on"""
    real_time: bool = False
    """the screening instrument submits frames when they would arrive, not as fast as it goes"""
    window: tuple[int, int] = (0, 0)
    """for instruments that look at a part of a run: numbers of the first and the last interval, as
    in harness.timeline.layout, both included"""
    failing: Failing | None = None
    """what the inject instrument has fail; it counts if this is None"""
    parts: tuple[str, ...] = ()
    """workloads that the batch instrument runs one after another, instead of `workload`"""
    memory_limit: int | None = None
    """bytes that the process may take beyond what it has at its start"""
    stateful: bool = False
    """the backend keeps state between frames: its results are compared with a second instance's"""
    digests: bool = False
    """the screening instrument also leaves a digest of every result"""
    frames: tuple[int, ...] = ()
    """the reference instrument computes just these; all that its budget allows if empty"""
    capture: int | None = None
    """number of the result, of those that the first cycle gives, that is left in full"""
    methods: dict[str, str] = {}
    """the backend's own names of the protocol's methods"""
    budget_s: float = 10.0
    """processor time after which the reference instrument begins no other frame"""


class Outcome(msgspec.Struct):
    """What a child says: once before it measures, once more when it has come to an end."""

    ended: bool = False
    """false in what a child that died leaves"""
    usage_error: str | None = None
    failure: Failure | None = None
    workload: str = ""
    """the workload as measured: that of the decoded frames for a video"""
    default_format: str = "rgb24"
    """what a segment without a format meant"""
    target_root: str = ""
    """folder of the package, or the file, that the target was imported from"""
    repeats: int = 1
    """how often a cycle went through the workload"""
    measured_s: float = 0.0
    """seconds that all cycles took, without preparation; 0 where it wasn't measured"""
    lateness: Lateness | None = None
    """of a run in real time"""
    nireq: int | None = None
    threads: int = 0
    """of Python's, the most that there were at the end of a step"""
    burst: int = 0
    """frames that the burst instrument submitted without a wait"""
    inputs_alive: int | None = None
    """the most of them that were referred to at once"""
    stateful: bool = False
    """declared by the run or by the factory to keep state between frames"""
    expected: tuple[int, ...] | None = None
    """bytes that the backend must hold in buffers after each step, as harness.expectation has it"""
    arena: Arena | None = None
    mapped: tuple[tuple[int, int], ...] | None = None
    """all mapped memory at the end, as ascending (first address, the one behind the last)"""
    baseline: dict[str, Any] = msgspec.field(default_factory=dict)
    cycle_ends: tuple[dict[str, Any], ...] = ()
    """what the process held after each cycle's teardown"""
    raised_at: dict[str, tuple[StackFrame, ...]] = msgspec.field(default_factory=dict)
    """where `flush` or a `close` raised that had met bad frames, by phase, innermost frame first"""
    garbage: Garbage = Garbage()
    """what only the garbage collector could free, after all cycles"""
    environment: dict[str, Any] = msgspec.field(default_factory=dict)
    notes: tuple[str, ...] = ()


class LineGrowth(msgspec.Struct, frozen=True):
    """What one line of the backend's added to the heap."""

    file: str
    line: int
    function: str
    bytes: int
    """added less given back"""


def part_folder(folder: Path, number: int) -> Path:
    """Where a part of a batch leaves what a run of its own leaves in `folder`."""
    return folder / f"part-{number}"


def write_outcome(folder: Path, outcome: Outcome) -> None:
    """Write it so that a reader sees all of it or the one before."""
    unfinished = folder / (OUTCOME + ".part")
    unfinished.write_bytes(msgspec.json.encode(outcome))
    unfinished.rename(folder / OUTCOME)


def read_journal(folder: Path) -> array[int]:
    """Per step over all cycles: frames submitted and not yet returned at its end."""
    path = folder / JOURNAL
    return array("q", path.read_bytes() if path.exists() else b"")


def read_outcome(folder: Path) -> Outcome | None:
    """What the child said last, None if it said nothing."""
    path = folder / OUTCOME
    if not path.exists():
        return None
    return msgspec.json.decode(path.read_bytes(), type=Outcome)
