"""Ctrl-C waits for what must not be broken off, and is lost in no case."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from harness.interrupts import held_back


@pytest.fixture(autouse=True)
def _handler() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def interrupted(done: list[str], error: Exception | None = None) -> None:
    with held_back():
        signal.raise_signal(signal.SIGINT)
        done.append("all of it")
        if error:
            raise error


def test_it_is_raised_when_the_work_is_done() -> None:
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        interrupted(done)
    assert done


def test_the_works_own_error_comes_first() -> None:
    with pytest.raises(ValueError, match="mine"):
        interrupted([], ValueError("mine"))


def test_a_handler_of_somebody_elses_is_left_alone() -> None:
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    with held_back():
        signal.raise_signal(signal.SIGINT)
        assert came == [signal.SIGINT]
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_another_thread_may_use_it() -> None:
    def work() -> None:
        with held_back():
            done.append(True)

    done: list[bool] = []
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]


COMMAND = """
import signal
import harness.interrupts

def find_spec(name, path=None, target=None):
    if name == "harness.cli":
        signal.raise_signal(signal.SIGINT)

import sys
sys.meta_path.insert(0, type("Finder", (), {"find_spec": staticmethod(find_spec)}))
from harness.__main__ import main
sys.exit(main())
"""


def test_the_command_that_is_still_imported_ends_in_one_line() -> None:
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "list"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "steadyframe: interrupted\n")
