"""Blocks in this process: what they count, what they let pass, and how they lie in each other."""

from __future__ import annotations

import gc
import queue
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import memray
import numpy as np
import pytest

from harness import block, block_session
from harness.block_session import Session
from harness.errors import UsageError
from tests.harness.block.helpers import findings, line_of

kept: list[Any] = []


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    yield
    kept.clear()
    assert Session.current is None
    assert gc.isenabled()


class Worker:
    """A thread that allocates as much as it is told to."""

    def __init__(self) -> None:
        self._asked: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def step(self, size: int) -> None:
        self._asked.put(size)
        self._done.get()

    def close(self) -> None:
        self._asked.put(0)
        self._thread.join()

    def _run(self) -> None:
        while size := self._asked.get():
            bytearray(size)
            self._done.put(size)


def test_empty_block_and_one_that_reuses_its_buffer_hold() -> None:
    out, x = np.zeros(5000), np.ones(5000)
    with block.no_allocations():
        pass
    with block.no_allocations():
        for _ in range(50):
            np.add(x, x, out=out)


def churns_and_keeps() -> None:
    with block.no_allocations():
        for _ in range(3):
            bytearray(5000)  # freed
        kept.append(bytearray(6999))


def test_each_line_is_named_with_exact_counts_and_its_fate() -> None:
    with pytest.raises(block.ContractError) as caught:
        churns_and_keeps()
    churned, held = findings(caught)
    assert (churned.count, churned.bytes, churned.kind) == (3, 3 * 5001, "churn")
    assert churned.line == line_of(churns_and_keeps, "# freed")
    assert (held.count, held.bytes, held.kind) == (1, 7000, "kept")
    assert held.line == line_of(churns_and_keeps, "kept.append")
    assert [frame[0] for frame in held.stack] == ["churns_and_keeps"], "its callers are no matter"
    at = f"test_block.py:{line_of(churns_and_keeps, 'with block')} in churns_and_keeps"
    text = str(caught.value)
    assert f"{at} violates zero-owned: steady-allocations (2 findings)" in " ".join(text.split())
    assert "> " in text
    assert "kept.append(bytearray(6999))" in text


def test_counts_are_the_same_each_time() -> None:
    counts = set()
    for _ in range(3):
        with pytest.raises(block.ContractError) as caught:
            churns_and_keeps()
        counts.add(tuple((f.line, f.count, f.bytes) for f in findings(caught)))
    assert len(counts) == 1


def test_thread_that_was_there_before_is_counted_at_its_line() -> None:
    worker = Worker()
    try:
        with (
            pytest.raises(block.ContractError) as caught,
            block.no_allocations(warmup=lambda: worker.step(100)),
        ):
            worker.step(7000)
    finally:
        worker.close()
    [found] = findings(caught)
    assert (found.function, found.line) == ("_run", line_of(Worker._run, "bytearray(size)"))
    assert (found.count, found.bytes) == (1, 7001)


def test_warm_up_is_called_before_and_not_counted() -> None:
    calls = []

    def warm() -> None:
        calls.append(bytearray(5000))

    with block.no_allocations(warmup=warm):
        before = len(calls)
    assert before == block.WARMUP_CALLS == len(calls)


def test_owners_say_whose_a_line_is() -> None:
    with block.no_allocations(owners=[("model", "*/test_block.py")]):
        kept.append(bytearray(5000))
    with (
        pytest.raises(block.ContractError) as caught,
        block.no_allocations(level="zero-malloc", owners=[("model", "*/test_block.py")]),
    ):
        kept.append(bytearray(5000))
    assert [found.owner for found in findings(caught)] == ["model"]


def test_what_is_released_holds_and_churn_is_allowed() -> None:
    with block.released():
        rows = [np.zeros(5000) for _ in range(20)]
        small = [np.zeros(3) for _ in range(20)]
        del rows, small


def leaves_two() -> None:
    with block.released():
        kept.append(bytearray(9000))
        cycle: list[Any] = [bytearray(8000)]
        cycle.append(cycle)
        del cycle


def test_what_is_left_is_told_from_what_only_the_collector_freed() -> None:
    with pytest.raises(block.ContractError) as caught:
        leaves_two()
    left, delayed = findings(caught)
    assert (left.kind, left.count, left.bytes) == ("leak", 1, 9001)
    assert (delayed.kind, delayed.count, delayed.bytes) == ("delayed-release", 1, 8001)


def nests() -> None:
    with block.released():
        with block.no_allocations():
            pass
        with block.released():
            late = bytearray(5000)
        del late
        bytearray(6000)
        with block.no_allocations():
            bytearray(7000)


def test_nested_blocks_share_one_tracker_and_each_has_its_own_verdict() -> None:
    with pytest.raises(block.ContractError) as caught:
        nests()
    reports = caught.value.reports
    assert [report.level for report in reports] == ["zero-growth", "zero-owned"]
    late_release, churn = findings(caught)
    assert (late_release.kind, late_release.bytes) == ("late-release", 5001)
    assert (churn.kind, churn.bytes) == ("churn", 7001)


def raises() -> None:
    with block.no_allocations():
        kept.append(bytearray(5000))
        raise KeyError("mine")


def test_error_of_the_body_comes_through_and_the_next_block_works() -> None:
    with pytest.raises(KeyError, match="mine"):
        raises()
    with pytest.raises(ZeroDivisionError), block.released(warmup=lambda: 1 / 0):
        raise AssertionError("not reached")
    with block.no_allocations():
        pass


@pytest.fixture
def spinner(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Thread]:
    """A thread that never rests, until the test is over."""
    monkeypatch.setattr(block_session, "_PATIENCE_S", 0.2)
    end = threading.Event()

    def spin() -> None:
        while not end.is_set():
            pass

    thread = threading.Thread(target=spin, name="spinner")
    yield thread
    end.set()
    thread.join()


def test_thread_that_never_rests_is_named(spinner: threading.Thread) -> None:
    spinner.start()
    with pytest.raises(UsageError, match="spinner"), block.no_allocations():
        raise AssertionError("not reached")


def test_no_verdict_if_a_thread_works_on_at_the_end(spinner: threading.Thread) -> None:
    with (
        pytest.raises(block.ContractError, match="spinner") as caught,
        block.no_allocations(),
    ):
        spinner.start()
    assert [report.verdict for report in caught.value.reports] == ["no-verdict"]


def test_another_tracker_is_refused_in_one_line(tmp_path: Any) -> None:
    with (
        memray.Tracker(tmp_path / "theirs.bin"),
        pytest.raises(UsageError, match="pytest-memray") as caught,
        block.released(),
    ):
        raise AssertionError("not reached")
    assert "\n" not in str(caught.value)


def test_a_profiler_is_refused_and_left_on() -> None:
    seen = []
    sys.setprofile(lambda *event: seen.append(event[1]))
    try:
        with pytest.raises(UsageError, match="a profiler is on"), block.released():
            raise AssertionError("not reached")
        assert sys.getprofile() is not None
    finally:
        sys.setprofile(None)


def test_block_of_another_thread_is_refused() -> None:
    said: list[str] = []

    def other() -> None:
        try:
            with block.released():
                said.append("entered")
        except UsageError as error:
            said.append(str(error))

    with block.released(warmup=lambda: None):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        del thread
    assert len(said) == 1
    assert "another thread is within a block" in said[0]


@pytest.mark.parametrize("asked", [block.no_allocations, block.released])
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"warmup": 3}, "warmup 3 is not a function to call"),
        ({"tell": "print"}, "tell 'print' is not a function to call"),
        ({"owners": [3]}, r"owners \[3\] is not a list of \(owner, glob\)"),
        ({"owners": "model=x"}, "owners 'model=x' is not a list of"),
    ],
)
def test_argument_of_another_type_is_refused_in_one_line(
    asked: Callable[..., block.Block], given: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        asked(**given)


def test_level_that_means_nothing_is_refused_and_a_block_is_entered_once() -> None:
    with pytest.raises(UsageError, match="zero-owned and zero-malloc"):
        block.no_allocations(level="zero-growth")
    once = block.released()
    with once:
        pass
    with pytest.raises(UsageError, match="entered once"), once:
        raise AssertionError("not reached")
