"""heaptrack's totals at the end of a run."""

from __future__ import annotations

from harness.bench.tools.heaptrack import parse
from harness.bench.tools.tool import Said

PRINTED = """\
heaptrack output will be written to "data.zst"
starting application, this might take some time...
heaptrack stats:
\tallocations:          \t29541
\tleaked allocations:   \t1339
\ttemporary allocations:\t7198
Heaptrack finished! Now run the following to investigate the data:
"""


def test_totals_are_those_it_prints() -> None:
    assert parse(PRINTED).totals == {"allocations": 29541, "leaked allocations": 1339}


def test_totals_of_a_broken_run_are_not_read() -> None:
    assert parse(PRINTED, "hung") == Said(failed="hung")
    assert parse("heaptrack output will be written") == Said(failed="no totals were printed")
