"""memcheck's log: blocks lost, descriptors and invalid accesses; the last alone of a broken run."""

from __future__ import annotations

from harness.bench.tools.memcheck import parse

ENDED = """\
==17== Memcheck, a memory error detector
==17== Use of uninitialised value of size 8
==17==    at 0x49E0569: Py_INCREF (object.h:502)
==17==
==17== FILE DESCRIPTORS: 5 open (3 std) at exit.
==17==
==17== LEAK SUMMARY:
==17==    definitely lost: 7,247 bytes in 1,039 blocks
==17==    indirectly lost: 2,120 bytes in 34 blocks
==17==      possibly lost: 2,055,729 bytes in 15,010 blocks
==17==    still reachable: 1,218,460 bytes in 6,697 blocks
==17== ERROR SUMMARY: 4562 errors from 3002 contexts (suppressed: 0 from 0)
"""
CRASHED = """\
==17== Invalid write of size 8
==17==    at 0x6B5A0D2: write (close.c:12)
==17==  Address 0x10 is not stack'd, malloc'd or (recently) free'd
==17==
==17== Process terminating with default action of signal 11 (SIGSEGV)
==17==      possibly lost: 81,263,032 bytes in 663,348 blocks
"""


def test_totals_are_those_of_the_summary() -> None:
    said = parse(ENDED)
    assert said.totals == {
        "invalid": 0,
        "definitely lost": 1039,
        "indirectly lost": 34,
        "possibly lost": 15_010,
        "descriptors": 5,
    }
    assert not said.failed


def test_what_a_crash_leaves_is_no_leak() -> None:
    said = parse(CRASHED, "crashed with SIGSEGV")
    assert said.totals == {"invalid": 1}
    assert said.failed == "crashed with SIGSEGV"
