"""The backend by plan, held to the hardest contract: nobody allocates anything on a steady step."""

from __future__ import annotations

import pytest

from harness.verify import verify

WORKLOAD = "48x48@100*48,64x64@100*48,48x48@100*48,80x36@100*48"


@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize("model", ["espcn", "srcnn", "dncnn", "unet"])
def test_nobody_allocates_on_a_steady_step(model, mode):
    report = verify(
        "backend.reference:open_planned",
        WORKLOAD,
        level="zero-malloc",
        options={"model": model, "mode": mode, "threads": 2},
        quick=True,
    )
    assert report.verdict == "pass", [rule for rule in report.rules if rule.status == "fail"]
    steady = [step for step in report.steps if step.phase == "steady"]
    assert len(steady) > 100
    assert not any(step.allocations for step in steady)


def test_the_same_model_run_by_torch_is_caught():
    """Else the passes above would prove nothing."""
    options = {"model": "espcn"}
    report = verify(
        "backend.reference:open_espcn",
        "48x48@100*48",
        level="zero-malloc",
        options=options,
        cycles=1,
        quick=True,
    )
    assert report.verdict == "fail"
