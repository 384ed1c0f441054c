"""Factories that no fresh process can import: run by forks of the test's own process."""

from __future__ import annotations

import functools
import inspect
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from harness import block, inherited, isolate, targets, zygotes
from harness.errors import UsageError
from harness.probes.proc import children
from harness.result import Report
from harness.verify import verify
from harness.verify_soak import verify_soak

WORKLOAD = "16x16@25*14"


@pytest.fixture(scope="module", autouse=True)
def _end_helpers() -> Iterator[None]:
    isolate.shutdown()
    yield
    isolate.shutdown()


def filter_that(does: Callable[[Any], object]) -> Callable[[], Any]:
    """A factory of a filter that copies each frame to its one buffer, and does this besides."""

    def open_filter() -> Callable[[Any], Any]:
        out = np.zeros((16, 16, 3), np.uint8)

        def infer(frame: Any) -> Any:
            if frame.data.shape != out.shape:
                raise ValueError("another size")
            np.copyto(out, frame.data)
            does(frame)
            return out

        return infer

    return open_filter


def keep_nothing(frame: Any) -> None:
    pass


def test_clean_closure_passes_every_rule_and_says_what_a_fork_costs() -> None:
    report = verify(filter_that(keep_nothing), WORKLOAD)
    assert report.verdict == "pass", [rule for rule in report.rules if rule.findings]
    assert {rule.status for rule in report.rules} == {"pass"}
    assert inherited.NOTE in report.notes
    assert report.environment["allocator"] == inherited.UNPINNED
    assert report.target.endswith("test_inherited.py:filter_that.<locals>.open_filter")
    assert "no command can import it" in report.replay


def test_leak_of_a_closure_is_found_at_its_line() -> None:
    kept: list[bytearray] = []

    def keep(_: Any) -> None:
        kept.append(bytearray(5000))

    line = inspect.getsourcelines(keep)[1] + 1
    report = verify(filter_that(keep), WORKLOAD, quick=True, again="pytest here")
    growth = next(rule for rule in report.rules if rule.rule == "steady-growth")
    assert report.verdict == "fail"
    assert [(finding.file, finding.line) for finding in growth.findings] == [(__file__, line)]
    assert kept == [], "nothing is run in this process itself"
    assert report.replay == "pytest here"


def test_every_verification_sees_its_own_closure() -> None:
    verdicts = []
    for size in (0, 5000, 0):
        kept: list[bytearray] = []
        keep = filter_that(lambda _, kept=kept, size=size: kept.append(bytearray(size)))
        verdicts.append(verify(keep, WORKLOAD, level="zero-growth", quick=True).verdict)
    assert verdicts == ["pass", "fail", "pass"]


def test_crash_ends_the_fork_alone_and_is_named_however_deep_it_is() -> None:
    def die(frame: Any) -> None:
        if frame.pts:
            os.abort()

    def deeper(levels: int) -> Report:
        return deeper(levels - 1) if levels else verify(filter_that(die), WORKLOAD)

    report = deeper(90)  # a test runner's own stack may be as deep
    assert report.verdict == "no-verdict"
    assert report.failure is not None
    assert report.failure.kind == "crashed"
    assert "in die" in report.failure.detail


def test_helpers_end_with_the_verification_though_this_process_has_threads() -> None:
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    before = set(os.listdir("/proc/self/fd"))
    others = set(children("self"))  # of another test's, such as Python's resource tracker
    try:
        report = verify(filter_that(keep_nothing), WORKLOAD)
    finally:
        done.set()
        thread.join()
    assert report.verdict == "pass"
    assert zygotes.descriptors() == []
    assert set(os.listdir("/proc/self/fd")) == before
    assert set(children("self")) <= others


def test_pool_of_threads_that_torch_has_started_does_not_hang_a_fork() -> None:
    script = f"""
import torch, sys
sys.path[:] = {sys.path!r}
torch.set_num_threads(2)
square = torch.rand(1500, 1500)
square @ square
from tests.harness.inherited.test_inherited import filter_that
from harness.verify import verify
product = torch.empty(1500, 1500)
report = verify(filter_that(lambda frame: torch.mm(square, square, out=product)),
                "16x16@25*10", quick=True, level="zero-growth", cycles=1, timeout=20)
print(report.verdict, report.failure)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "pass None\n", done.stderr


def test_what_is_buffered_on_stdout_is_written_once() -> None:
    script = f"""
import sys
sys.path[:] = {sys.path!r}
print("before")
from tests.harness.inherited.test_inherited import filter_that
from harness.verify import verify
verify(filter_that(lambda frame: print("within")), "16x16@25*2", quick=True)
print("after")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "before\nafter\n", done.stderr


def test_tracker_of_this_process_is_in_the_way_of_forks_alone() -> None:
    with block.released(tell=lambda _: None):
        with pytest.raises(UsageError, match="a memray tracker is on in this process"):
            verify(filter_that(keep_nothing), WORKLOAD, quick=True)
        assert verify(Filters.open_one, WORKLOAD, quick=True).verdict == "pass"
    assert verify(filter_that(keep_nothing), WORKLOAD, quick=True).verdict == "pass"


def test_soak_run_asks_for_a_factory_that_can_be_imported() -> None:
    with pytest.raises(UsageError, match="move it to the top of its module"):
        verify_soak(filter_that(keep_nothing), 100)


class Filters:
    @staticmethod
    def open_one() -> Callable[[Any], None]:
        return keep_nothing


hidden = functools.partial(filter_that, keep_nothing)


def test_only_what_its_name_stands_for_is_imported_by_it() -> None:
    assert str(targets.name_of(Filters.open_one)).endswith(":Filters.open_one")
    assert targets.name_of(hidden) is None
    assert targets.name_of(lambda frame: frame) is None
    assert targets.name_of(Filters().open_one) == targets.name_of(Filters.open_one)


def test_module_that_the_command_line_would_not_find_is_named_by_its_file(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "lonely_module.py").write_text("def open_it(): ...\n")
    (tmp_path / "near_module.py").write_text("def open_it(): ...\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path / "far")
    monkeypatch.syspath_prepend(tmp_path)
    import lonely_module
    import near_module

    assert targets.name_of(lonely_module.open_it) == "far/lonely_module.py:open_it"
    assert targets.name_of(near_module.open_it) == "near_module:open_it"
