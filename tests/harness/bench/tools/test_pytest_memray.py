"""pytest-memray's list of what is left: the most of a place for each test, and of each line."""

from __future__ import annotations

from harness.bench.tools.in_pytest import parse
from harness.bench.tools.pytest_memray import read

PRINTED = """\
=================================== FAILURES ===================================
_________________________________ test_cycles __________________________________
Test was allowed to leak 1.0B per location but at least one location leaked more
----------------------------- memray-leaked-memory -----------------------------
List of leaked allocations:
    - 1.5KiB allocated here:
        PyTuple_New:Objects/tupleobject.c:75
        __call__:/src/fault.py:14
        execute:/src/adapters.py:47
    - 372.0B allocated here:
        _PyCode_CreateLineArray:Objects/codeobject.c:740
        execute:/src/adapters.py:47
_________________________________ test_frames __________________________________
Test was allowed to leak 1.0B per location but at least one location leaked more
----------------------------- memray-leaked-memory -----------------------------
List of leaked allocations:
    - 6.0B allocated here:
        _good:/src/plain.py:66
=========================== short test summary info ============================
"""


def test_each_test_and_each_line_has_the_most_of_a_place() -> None:
    said = read(PRINTED)
    assert said is not None
    assert said.totals == {"cycles": 1536, "frames": 6}
    assert said.places["/src/fault.py", 14] == said.places["/src/adapters.py", 47] == 1536
    assert said.places["/src/plain.py", 66] == 6


def test_a_failure_without_a_list_is_none_of_its_own() -> None:
    assert read("E       ValueError: no\n____ test_cycles ____\n") is None


def test_what_a_test_raised_is_told_beside_what_another_leaves() -> None:
    said = parse(f"{PRINTED}E       ValueError: no\n", "exited with 1", read)
    assert said.totals["cycles"] == 1536
    assert said.failed == "raised ValueError: no"
    assert not parse(PRINTED, "exited with 1", read).failed
