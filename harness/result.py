"""The report of a run as data: schema 1 of the JSON report, and nothing but plain types.

Every renderer is a function of a `Report`; every rule returns a `RuleResult`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

Verdict = Literal["pass", "fail", "no-verdict"]
Status = Literal["pass", "fail", "skipped"]
Phase = Literal["warm-up", "steady", "record"]
Level = Literal["zero-growth", "zero-owned", "zero-malloc"]
LEVELS: tuple[Level, ...] = ("zero-growth", "zero-owned", "zero-malloc")

BaselineState = Literal["", "new", "updated", "unchanged"]
"""of a finding held against the gate's baseline; updated is more than recorded, empty not held"""

StackFrame = tuple[str, str, int]
"""(function, file, line)"""


class Finding(msgspec.Struct, frozen=True):
    """One violation with its evidence."""

    owner: str
    file: str
    line: int
    function: str
    frames: tuple[int, ...]
    """numbers of the frames on whose steps it was seen (of one cycle, from 0)"""
    count: int
    """blocks, or threads, descriptors, ... for a resource"""
    bytes: int
    cycle: int
    """cycle in which it was first seen, from 1; 0 for the run as a whole"""
    stack: tuple[StackFrame, ...]
    """innermost frame first"""
    kind: str = ""
    """what sort of fault it is, for programs: churn, leak-per-frame, leak-per-cycle, ..."""
    text: str = ""
    """the finding in one sentence, for people"""
    native: tuple[str, ...] = ()
    """the ways through native code, each as names of functions, innermost first, joined by ` < `"""
    baseline: BaselineState = ""


class RuleResult(msgspec.Struct, frozen=True):
    """What one rule says of one run."""

    rule: str
    status: Status
    measured: int
    limit: int
    why: str
    findings: tuple[Finding, ...] = ()


class Count(msgspec.Struct):
    """Allocations and the bytes that they asked for."""

    allocations: int = 0
    bytes: int = 0


class Step(msgspec.Struct):
    """One step of one cycle, as measured between two quiescent moments."""

    cycle: int
    """from 1"""
    index: int
    """from 0 in each cycle"""
    frames: tuple[int, int]
    """first and last frame, from 0 in each cycle, both included"""
    width: int
    height: int
    """geometry of the last frame of the step"""
    phase: Phase
    allocations: int
    """by anyone but the harness and its frame source"""
    bytes: int
    by_owner: dict[str, Count]
    live_bytes: int
    """bytes allocated since the run began and not yet freed at the step's end, harness excepted"""
    in_flight: int
    """frames submitted and not yet returned at the step's end"""
    live_by_owner: dict[str, int] = {}
    """`live_bytes` by owner, those without any left out; empty where it was not kept"""


class BufferCurve(msgspec.Struct, frozen=True):
    """The size of one of the backend's buffers over the steps."""

    file: str
    line: int
    function: str
    """where it was made"""
    number: int
    """which of those that the line made, the largest first, from 1"""
    sizes: tuple[tuple[int, int], ...]
    """(position among the report's steps, bytes from that step's end on); 0 once it is gone"""


class Region(msgspec.Struct, frozen=True, array_like=True):
    """A piece of the backend's arena, as in `backend.protocol.Region`."""

    name: str
    offset: Annotated[int, msgspec.Meta(ge=0)]
    """bytes from the arena's beginning"""
    bytes: Annotated[int, msgspec.Meta(ge=0)]
    first: Annotated[int, msgspec.Meta(ge=0)]
    last: Annotated[int, msgspec.Meta(ge=0)]
    """steps of an inference, both included"""
    about: str = ""
    whole: Annotated[int, msgspec.Meta(ge=0)] = 0
    """bytes that the same value takes where it is kept whole"""


class Arena(msgspec.Struct, frozen=True):
    """Where everything lies in the backend's arena for a frame of this geometry."""

    width: int
    height: int
    regions: tuple[Region, ...]


class Expectation(msgspec.Struct, frozen=True):
    """Bytes in the backend's buffers (blocks of a page or more) at the end of each step."""

    expected: tuple[int, ...]
    """as the backend's factory says"""
    measured: tuple[int, ...]


class Survivors(msgspec.Struct, frozen=True):
    """Memory alive after teardown that is no leak, by site."""

    owner: str
    file: str
    line: int
    function: str
    count: int
    bytes: int


class Extent(msgspec.Struct, frozen=True):
    """An amount before the first cycle, at most (after any step, open or close), and at the end."""

    before: int
    peak: int
    after: int


class Teardown(msgspec.Struct, frozen=True):
    """What the process held before the first cycle and after the last."""

    baseline: dict[str, Any]
    after: dict[str, Any]
    first_use_survivors: tuple[Survivors, ...] = ()
    native: dict[str, Extent] = {}
    """by field of harness.probes.heap: of a run of the same workload that no tracer watched"""


class Cost(msgspec.Struct, frozen=True):
    """What the measurement took."""

    wall_s: float
    """seconds, from the start of the child to the finished report"""
    events: int
    """allocations and deallocations in the trace"""


class Failure(msgspec.Struct, frozen=True):
    """Why there is no verdict."""

    kind: str
    """crashed, hung, killed, exited, raised, not-quiescent, unmeasurable"""
    phase: str
    """import, open, execute, get_result, flush, close, measure"""
    cycle: int
    frame: int
    """last frame that was submitted, -1 before the first"""
    text: str
    """one sentence for people"""
    detail: str = ""
    """the end of stderr, or the stacks of all threads"""
    exception: str = ""
    """of the kind raised: the exception's type, as module.name"""
    message: str = ""
    """of the kind raised: the exception's text"""


class Progress(msgspec.Struct, frozen=True):
    """Where a run is, for a display."""

    phase: str
    """one of harness.flight.PHASES, then "analyse" and "compare" """
    cycle: int
    """from 1"""
    cycles: int
    frame: int
    """frames submitted in this cycle"""
    frames: int
    """frames of one cycle; 0 while unknown"""
    more: str = ""
    """anything else to show, such as a speed"""


class Report(msgspec.Struct):
    """All that is known of a run."""

    schema: int
    verdict: Verdict
    level: Level
    target: str
    workload: str
    seed: int
    rules: tuple[RuleResult, ...]
    steps: tuple[Step, ...]
    teardown: Teardown
    cost: Cost
    environment: dict[str, Any]
    replay: str
    cycles: int = 0
    failure: Failure | None = None
    notes: tuple[str, ...] = ()
    """what a reader must know to read the numbers rightly"""
    curves: dict[str, tuple[int, ...]] = {}
    """of a soak run: values over its steps, evenly spaced, by the name of what was sampled"""
    buffers: tuple[BufferCurve, ...] = ()
    """the backend's largest: the capacity of its requests"""
    expectation: Expectation | None = None
    """None if the factory does not say what is to be held"""
    arena: Arena | None = None
    """None if the backend tells of none"""
    sites: dict[str, tuple[Finding, ...]] = {}
    """lines of code behind the counts, violations or not, by kind as in harness.sites"""
    video: str = ""
    """file that was decoded instead of a made workload"""
    options: dict[str, Any] = {}
    """what the factory was given"""
