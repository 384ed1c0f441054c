"""The calling process stays as small as it is, however many backends it has verified."""

from __future__ import annotations

from pathlib import Path

import psutil

from harness.verify import verify

PLANTED = Path(__file__).with_name("planted.py")
# Two findings took 93 MB when symbol support was asked for anew each time; RSS itself moves by less
# than 1 MB here.
MOST_BYTES = 10 << 20


def test_findings_leave_nothing_behind_in_the_caller() -> None:
    def resident() -> int:
        assert verify(f"{PLANTED}:Churn", "64x64@25*20", quick=True).verdict == "fail"
        return psutil.Process().memory_info().rss

    resident()  # symbol tables, once
    before = resident()
    resident()
    assert resident() - before < MOST_BYTES
