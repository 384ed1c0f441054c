"""Long runs: the same workload again and again, and what only they show."""

from __future__ import annotations

from itertools import pairwise

from harness import isolate
from harness.contract import Contract
from harness.probes.heap import FIELDS
from harness.soak import CURVE_POINTS, Soak, SoakProgress, soak, thinned
from tests.harness.screening.helpers import line_of, spec_of


def _soak(target: str, workload: str, frames: int, seen: list[SoakProgress]) -> Soak:
    return soak(
        spec_of(target, workload),
        frames,
        Contract(),
        (),
        lambda spec, watch: isolate.run(spec, 60, watch),
        seen.append,
    )


def test_a_leak_every_fiftieth_frame_is_named() -> None:
    seen: list[SoakProgress] = []
    ran = _soak("MallocEveryFiftieth", "64x64@100*300", 20_000, seen)
    assert ran.failure is None
    assert ran.frames == 20_100  # whole passes
    assert ran.rule.status == "fail"
    assert {finding.line for finding in ran.rule.findings} == {line_of("MallocEveryFiftieth")}
    assert ran.curves.keys() == set(FIELDS)
    heap = ran.curves["heap_bytes"]
    assert len(heap) <= CURVE_POINTS
    assert heap[-1] - heap[1] > 32 * 300
    running = [progress for progress in seen if progress.frames_per_second]
    assert running
    assert all(progress.frames == 20_100 for progress in running)
    assert len(running[-1].curve) > 1


def test_what_grows_from_pass_to_pass_is_named() -> None:
    ran = _soak("MallocPerChange", "64x64@25*12,32x32@25*12", 600, [])
    assert {finding.line for finding in ran.rule.findings} == {line_of("MallocPerChange")}


def test_a_clean_backend_passes() -> None:
    ran = _soak("Clean", "64x64@100*200,32x32@100*200", 4000, [])
    assert (ran.rule.status, ran.rule.findings) == ("pass", ())


def test_a_run_that_breaks_off_says_how_far_it_got() -> None:
    ran = _soak("Raises", "64x64@25*100", 1000, [])
    assert ran.rule.status == "skipped"
    assert ran.failure is not None
    assert "at frame 300" in ran.failure.text
    assert ran.frames == 301
    assert len(ran.curves["heap_bytes"]) > 10


def test_curves_are_thinned_evenly_and_end_with_the_last_value() -> None:
    assert thinned(range(10)) == tuple(range(10))
    assert thinned(()) == ()
    few = thinned(range(1000))
    assert few[-1] == 999
    assert len(few) <= CURVE_POINTS
    assert {later - earlier for earlier, later in pairwise(few)} == {17}
