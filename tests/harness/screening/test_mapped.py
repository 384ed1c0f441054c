"""Mappings that the tracer does not see: growth shows in pages, what mremap moved is no leak."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.verify import verify
from tests.harness.core.helpers import failed

PLANTED = Path(__file__).with_name("planted_mapped.py")


@pytest.mark.parametrize("name", ["ByPointer", "ResizedEachFrame"])
def test_what_is_mapped_for_every_frame_is_growth(name: str) -> None:
    report = verify(f"{PLANTED}:{name}", "64x48@25*40")
    assert failed(report) == ["steady-growth"]
    (finding,) = next(rule for rule in report.rules if rule.rule == "steady-growth").findings
    assert finding.kind == "leak-per-frame"
    assert finding.count >= 32 * 256
    assert "pages of mapped memory more" in finding.text


def test_a_mapping_that_is_moved_for_a_larger_frame_and_closed_is_no_leak() -> None:
    report = verify(f"{PLANTED}:ResizedForLarger", "16x16@25*20,128x128@25*20")
    assert report.verdict == "pass"
