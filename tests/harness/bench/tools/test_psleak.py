"""psleak's complaints, as pytest shows them."""

from __future__ import annotations

from harness.bench.tools.in_pytest import parse
from harness.bench.tools.psleak import read
from harness.bench.tools.tool import Said

GROWN = """\
>       raise MemoryLeakError(msg)
E       psleak.MemoryLeakError: memory kept increasing after 10 runs
E       Run # 1: heap=+1280   | rss=+4096   (calls=  20, avg/call=+64)
1 failed in 1.20s
"""
LEFT = """\
E           psleak.UnclosedFdError: detected 1 unclosed file descriptor after calling 'f' 1 time
FAILED test_backend.py::Test::test_cycles - psleak.UnclosedFdError: detected 1...
"""
RAISED = """\
E       ValueError: could not broadcast input array from shape (40,40,3) into shape (32,32,3)
FAILED test_backend.py::Test::test_cycles - ValueError: could not broadcast
"""


def test_its_first_complaint_is_the_alarm() -> None:
    assert parse(GROWN, "exited with 1", read) == Said(
        alarm="MemoryLeakError: memory kept increasing after 10 runs"
    )
    assert parse(LEFT, "exited with 1", read).alarm.startswith("UnclosedFdError: detected 1")


def test_a_test_that_passes_says_nothing() -> None:
    assert parse("2 passed in 1 s", "", read) == Said()


def test_what_the_backend_raises_is_no_complaint() -> None:
    said = parse(RAISED, "exited with 1", read)
    assert said.failed.startswith("raised ValueError: could not broadcast")
    assert parse("", "hung", read) == Said(failed="hung")
