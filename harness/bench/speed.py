"""The backend section: frames a second, and what a frame costs in memory, of every contestant.

They take turns in one process, so that what else the machine does hits all alike. After the turns
one frame of each is traced. Peak memory is that of processes of their own.
"""

from __future__ import annotations

import functools
import resource
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.bench import optional, peak
from harness.bench.frame_cost import allocated
from harness.bench.ratios import in_turn, least_of, ratio
from harness.bench.section import Cell, Chart, Column, Line, Section, Target, Tell

if TYPE_CHECKING:
    from backend.frame import Frame
    from harness.bench.contestants import Contestant

MODELS = ("espcn", "dncnn")
SIZES = ((128, 128), (256, 256), (640, 480), (1920, 1080))
THREADS = (1, 2)
TURN_S = 0.2
"""how long a turn is at least, and one frame"""
_WARM_UP_S = 0.2
LEAST_SPEED = 1.0
"""of planned, by the best way to run a model that torch offers"""
MOST_MEMORY = 0.5
"""of planned's peak, by that of the eager module"""

COLUMNS = [
    Column("model"),
    Column("threads"),
    Column("size"),
    Column("contestant"),
    Column("speed", "fps"),
    Column("by naive"),
    Column("by best torch"),
    Column("allocations", "a frame"),
    Column("allocated", "KiB a frame"),
    Column("page faults", "a frame"),
    Column("peak", "MiB"),
]
ABOUT = (
    "An 8-bit luma frame to an 8-bit result. naive is a function that makes new tensors on every "
    "frame; eager, script (frozen, optimised TorchScript) and planned are TorchBackend in sync "
    "mode; onnxruntime has its input and output bound to buffers made once, and so has OpenVINO. "
    "Speed is that of the fastest turn. Ratios are of speeds in the same turn, the median of the "
    "turns: above 1 is faster. The best torch is the fastest of naive, eager and script in that "
    "turn. Peak is what a process of its own rose by."
)


@dataclass(frozen=True, slots=True)
class Case:
    """One model at one size with so many threads."""

    model: str
    threads: int
    size: peak.Size

    @property
    def frame(self) -> str:
        """The size, as a workload has it."""
        return f"{self.size[0]}x{self.size[1]}"

    def __str__(self) -> str:
        return f"{self.model} {self.frame}, {_threads(self.threads)}"


def _threads(count: int) -> str:
    return "1 thread" if count == 1 else f"{count} threads"


@dataclass(frozen=True, slots=True)
class Measured:
    """One contestant in one case."""

    turns: list[float]
    """seconds a frame in each turn"""
    page_faults: float
    """a frame"""
    allocations: int
    allocated: int
    """bytes a frame"""


def measure(turns: int, tell: Tell) -> Section:
    """The table of all cases; contestants that are not installed have rows that say so."""
    cases = [Case(m, t, s) for m in MODELS for t in THREADS for s in SIZES]
    found = {}
    for case in cases:
        tell(str(case))
        found[case] = _case(case, turns)
    tell("peak memory")
    peaks = _peaks(sorted({name for measured in found.values() for name in measured}))
    return Section(
        name="backend",
        title="The reference backend beside other ways to run a model",
        about=ABOUT,
        columns=COLUMNS,
        rows=[row for case in cases for row in _rows(case, found[case], peaks)],
        notes=optional.notes("onnx", "onnxruntime", "openvino"),
        charts=list(_charts(found)),
        targets=[_speed_target(found), _memory_target(peaks)],
        raw={
            "seconds a frame": {
                str(case): {name: one.turns for name, one in measured.items()}
                for case, measured in found.items()
            }
        },
    )


def _case(case: Case, turns: int) -> dict[str, Measured]:
    import numpy as np

    from backend.frame import Frame
    from harness.bench import contestants

    width, height = case.size
    pixels = np.random.default_rng(0).integers(0, 256, (height, width), dtype=np.uint8)
    frame = Frame(pixels, "gray8")
    with contestants.opened(case.model, width, height, case.threads) as there:
        contestants.check_agreement(there, frame)
        for one in there.values():
            _turn(one, frame, _WARM_UP_S, [])
        faults: dict[str, list[float]] = {name: [] for name in there}
        calls = {
            name: functools.partial(_turn, one, frame, TURN_S, faults[name])
            for name, one in there.items()
        }
        times = in_turn(calls, turns)
        costs = {
            name: allocated(functools.partial(contestants.serve, one, frame))
            for name, one in there.items()
        }
    return {name: Measured(times[name], min(faults[name]), *costs[name]) for name in there}


def _turn(one: Contestant, frame: Frame, least_s: float, faults: list[float]) -> float:
    """Seconds a frame; its page faults are added to the list."""
    from harness.bench.contestants import serve

    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    frames, started = 0, time.perf_counter()
    while True:
        serve(one, frame)
        frames += 1
        passed = time.perf_counter() - started
        if passed >= least_s:
            break
    faults.append((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / frames)
    return passed / frames


Peaks = Mapping[tuple[str, Case], int]
"""bytes"""


def _peaks(names: Sequence[str]) -> Peaks:
    """Two processes at a time: how fast they are does not matter."""
    jobs = [(n, m, t) for m in MODELS for t in THREADS for n in names]
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda job: peak.peaks(job[0], job[1], job[2], SIZES), jobs)
    return {
        (name, Case(model, threads, size)): value
        for (name, model, threads), values in zip(jobs, found, strict=True)
        for size, value in zip(SIZES, values, strict=True)
    }


def _rows(case: Case, found: Mapping[str, Measured], peaks: Peaks) -> Iterator[list[Cell]]:
    from harness.bench.contestants import CONTESTANTS

    for name in CONTESTANTS:
        head: list[Cell] = [case.model, case.threads, case.frame, name]
        if name not in found:
            yield [*head, *([optional.MISSING] * (len(COLUMNS) - len(head)))]
            continue
        one = found[name]
        yield [
            *head,
            1 / min(one.turns),
            ratio(found["naive"].turns, one.turns),
            by_best_torch(found, name),
            one.allocations,
            one.allocated / 1024,
            one.page_faults,
            peaks[name, case] / 2**20,
        ]


def by_best_torch(found: Mapping[str, Measured], name: str) -> float:
    """How many times as fast as the best that torch offers, in the same turn."""
    from harness.bench.contestants import TORCH

    return ratio(least_of([found[other].turns for other in TORCH]), found[name].turns)


def _charts(found: Mapping[Case, Mapping[str, Measured]]) -> Iterator[Chart]:
    """A chart for each model and number of threads, a line for each contestant."""
    for model in MODELS:
        for threads in THREADS:
            lines: dict[str, list[tuple[float | str, float]]] = {}
            for case, measured in found.items():
                if (case.model, case.threads) == (model, threads):
                    for name in measured:
                        point = (case.frame, by_best_torch(measured, name))
                        lines.setdefault(name, []).append(point)
            yield Chart(
                f"{model}, {_threads(threads)}",
                "size of the frame",
                "speed by best torch",
                [Line(name, points) for name, points in lines.items()],
            )


def _speed_target(found: Mapping[Case, Mapping[str, Measured]]) -> Target:
    ratios = {case: by_best_torch(measured, "planned") for case, measured in found.items()}
    worst = min(ratios, key=lambda case: ratios[case])
    slower = sum(value < LEAST_SPEED for value in ratios.values())
    return Target(
        "planned: speed by that of the best torch alternative",
        LEAST_SPEED,
        ratios[worst],
        f"{worst}; below in {slower} of {len(ratios)} cases",
        at_least=True,
    )


def _memory_target(peaks: Peaks) -> Target:
    ratios = {case: peaks["planned", case] / peaks["eager", case] for _, case in peaks}
    worst = max(ratios, key=lambda case: ratios[case])
    return Target("planned: peak memory by that of eager", MOST_MEMORY, ratios[worst], str(worst))
