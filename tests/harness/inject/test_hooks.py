"""What is counted as an operation, on which thread, and how each kind fails."""

from __future__ import annotations

import _thread
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from harness.inject.hooks import Caller, WatchedBackend, installed
from harness.inject.judge import tells
from harness.inject.points import Operation, Place, Point
from harness.inject.watch import Watch


class Runs:
    """A backend that does as it is told."""

    def __init__(self, work: Callable[[], object]) -> None:
        self.work = work

    def execute(self, frame: Any) -> None:  # noqa: ARG002
        self.work()

    def get_result(self) -> None:
        return None

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass


def watched(work: Callable[[], object], point: Point | None = None) -> tuple[Operation, ...]:
    watch = Watch(lambda: Place("execute", 0, 0))
    with installed(watch):
        backend = WatchedBackend(lambda: Runs(work), Caller(watch))
        watch.begin(point, record=True)
        try:
            backend.execute(None)
        finally:
            watch.end()
    return watch.operations()


def on_thread(work: Callable[[], object]) -> Callable[[], None]:
    def run() -> None:
        thread = threading.Thread(target=work, name="mine")
        thread.start()
        thread.join()

    return run


def raw_thread() -> None:
    done = threading.Event()
    _thread.start_new_thread(lambda: (torch.zeros(3), done.set()), ())
    done.wait()


MODULE = nn.Sequential(nn.ReLU(), nn.ReLU())
with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    SCRIPT = torch.jit.script(MODULE)
INPUT = torch.zeros(2)

KINDS: dict[str, tuple[Callable[[], object], list[tuple[str, str]]]] = {
    "operators": (
        lambda: torch.zeros(3).add_(1),
        [("operator", "aten.zeros.default"), ("operator", "aten.add_.Tensor")],
    ),
    "arrays": (lambda: np.empty(3).copy(), [("numpy", "numpy: memory")] * 2),
    "zeros": (lambda: np.zeros(3), [("numpy", "numpy: zeros")]),
    "a module": (
        lambda: MODULE(INPUT),
        [("forward", "forward of Sequential"), *[("operator", "aten.relu.default")] * 2],
    ),
    "TorchScript": (
        lambda: SCRIPT(INPUT),
        [
            ("forward", "forward of RecursiveScriptModule"),
            *[("operator", "aten.relu.default")] * 2,
        ],
    ),
    "a thread": (
        on_thread(lambda: (torch.ones(1), np.empty(3))),
        [
            ("thread", "start of a thread"),
            ("operator", "aten.ones.default"),
            ("numpy", "numpy: memory"),
        ],
    ),
    "a raw thread": (
        raw_thread,
        [("thread", "start of a thread"), ("operator", "aten.zeros.default")],
    ),
}


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_is_counted(name: str) -> None:
    work, expected = KINDS[name]
    assert [(each.kind, each.name) for each in watched(work)] == expected
    assert {each.thread for each in watched(work)} <= {"MainThread", "mine", "a thread"}


@pytest.mark.parametrize(
    ("work", "kind", "text"),
    [
        (lambda: torch.zeros(3), RuntimeError, "DefaultCPUAllocator: can't allocate memory"),
        (lambda: np.ones(3), MemoryError, "Unable to allocate"),
        (on_thread(lambda: None), RuntimeError, "can't start new thread"),
        (lambda: MODULE(INPUT), RuntimeError, "can't allocate memory"),
        (lambda: SCRIPT(INPUT), RuntimeError, "can't allocate memory"),
    ],
)
def test_each_kind_fails_as_the_real_one_does(
    work: Callable[[], object], kind: type[Exception], text: str
) -> None:
    first = watched(work)[0]
    with pytest.raises(kind, match=text):
        watched(work, Point(first.key, first.occurrence))


def test_an_operator_within_torchscript_can_fail() -> None:
    def work() -> object:
        return SCRIPT(INPUT)

    last = watched(work)[-1]
    with pytest.raises(RuntimeError, match="operation failed in the TorchScript") as raised:
        watched(work, Point(last.key, last.occurrence))
    assert tells(raised.value)


def test_one_occurrence_fails_or_all_from_then_on() -> None:
    seen: list[str] = []

    def work() -> None:
        for _ in range(4):
            try:
                torch.zeros(3)
                seen.append("made")
            except RuntimeError:
                seen.append("failed")

    second = watched(work)[1]
    assert second.occurrence == 2
    for lasting, expected in ((False, "failed made made"), (True, "failed failed failed")):
        seen.clear()
        watched(work, Point(second.key, second.occurrence, lasting))
        assert seen == ["made", *expected.split()]


def test_a_failed_operator_keeps_nothing_alive() -> None:
    work: Callable[[], object] = lambda: tensor.add(1)  # noqa: E731
    tensor = torch.zeros(3)
    point = watched(work)[0]
    before = tensor._use_count()
    with pytest.raises(RuntimeError) as raised:
        watched(work, Point(point.key, 1))
    assert (tensor._use_count(), raised.value.__traceback__ is None) == (before, False)


def test_all_is_as_it_was_when_the_context_is_left() -> None:
    started, low_level = threading._start_new_thread, _thread.start_new_thread
    watched(lambda: None)
    assert (threading._start_new_thread, _thread.start_new_thread) == (started, low_level)
    assert not torch.nn.modules.module._global_forward_pre_hooks
    # An array that was made meanwhile is freed by the allocator that made it.
    kept: list[Any] = []
    watched(lambda: kept.append(np.empty(10_000)))
    kept.clear()
    assert np.zeros(10_000).sum() == 0


def test_what_the_caller_does_between_calls_is_not_the_backends() -> None:
    watch = Watch(lambda: Place("execute", 0, 0))
    with installed(watch):
        backend = WatchedBackend(lambda: Runs(lambda: None), Caller(watch))
        watch.begin(None, record=True)
        torch.zeros(3)
        np.zeros(3)
        backend.execute(None)
    assert watch.operations() == ()
