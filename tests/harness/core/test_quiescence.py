"""A step ends when every other thread sleeps with nothing to do, and not before."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from harness.quiescence import NotQuiescentError, wait_quiescent


class Worker:
    """A thread that waits for the interpreter lock for as long as the test holds it."""

    def __init__(self) -> None:
        self.go = threading.Lock()
        self.go.acquire()
        self.steps = 0
        self.stop = False
        self.thread = threading.Thread(target=self._work, name="a worker (it's mine)")
        self.thread.start()

    def _work(self) -> None:
        self.go.acquire()
        while self.steps < 200_000 and not self.stop:
            self.steps += 1

    def end(self) -> None:
        self.stop = True
        if self.go.locked():
            self.go.release()
        self.thread.join()


@pytest.fixture
def worker() -> Iterator[Worker]:
    made = Worker()
    yield made
    made.end()


# Prints the states that the kernel shows of a thread, seen from outside for a while.
OBSERVER = """
import sys, time
print("ready", flush=True)
time.sleep(0.05)
states = set()
for _ in range(20):
    states.add(open(sys.argv[1]).read().rpartition(")")[2].split()[0])
    time.sleep(0.005)
print(*states)
"""


def test_alone_it_returns_at_once() -> None:
    wait_quiescent(0.0)


def test_a_blocked_thread_rests(worker: Worker) -> None:
    started = time.monotonic()
    wait_quiescent(5)
    assert time.monotonic() - started < 1
    assert worker.thread.is_alive()


def test_a_thread_that_waits_for_the_interpreter_lock_does_not_rest(worker: Worker) -> None:
    path = f"/proc/{os.getpid()}/task/{worker.thread.native_id}/stat"
    command = [sys.executable, "-c", OBSERVER, path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as observer:
        assert observer.stdout is not None
        observer.stdout.readline()
        worker.go.release()
        sum(range(20_000_000))  # one call into C: the lock can't be had meanwhile
        wait_quiescent(20)
        assert worker.steps == 200_000
        # It wanted to run all that time, and looked asleep.
        assert "S" in observer.stdout.read()


def test_every_hand_over_is_waited_for() -> None:
    # A relay of three threads: while one works, the others sleep.
    locks = [threading.Lock() for _ in range(4)]
    for lock in locks:
        lock.acquire()
    done = []

    def relay(number: int) -> None:
        for _ in range(50):
            locks[number].acquire()
            sum(range(2_000))
            locks[number + 1].release()
        done.append(number)

    threads = [threading.Thread(target=relay, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(50):
        locks[0].release()
        wait_quiescent(20)
        assert locks[3].acquire(blocking=False)
    for thread in threads:
        thread.join()


def test_a_thread_that_computes_without_the_lock_does_not_rest() -> None:
    import hashlib

    ended = []

    def compute() -> None:
        hashlib.pbkdf2_hmac("sha256", b"x", b"y", 200_000)
        ended.append(True)
        forever.acquire()

    forever = threading.Lock()
    forever.acquire()
    thread = threading.Thread(target=compute)
    thread.start()
    wait_quiescent(30)
    assert ended == [True]
    forever.release()
    thread.join()


def test_a_thread_that_never_rests_is_named() -> None:
    stop = threading.Event()

    def spin() -> None:
        while not stop.is_set():
            pass

    thread = threading.Thread(target=spin, name="spinner")
    thread.start()
    try:
        with pytest.raises(NotQuiescentError, match="spinner"):
            wait_quiescent(0.2)
    finally:
        stop.set()
        thread.join()


def test_a_name_with_parentheses_and_states_in_it_is_read_rightly() -> None:
    ready, wait = threading.Event(), threading.Lock()
    wait.acquire()

    def rename() -> None:
        with open(f"/proc/self/task/{threading.get_native_id()}/comm", "w") as file:
            file.write(") R (x) R")
        ready.set()
        wait.acquire()

    thread = threading.Thread(target=rename)
    thread.start()
    ready.wait()
    wait_quiescent(5)
    wait.release()
    thread.join()


@pytest.mark.parametrize("work", [int, lambda: time.sleep(1e-5)], ids=["nothing", "a sleep"])
def test_threads_may_end_while_they_are_looked_at(work: Callable[[], object]) -> None:
    stop = threading.Event()

    def churn() -> None:
        while not stop.is_set():
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        with pytest.raises(NotQuiescentError):
            wait_quiescent(0.3)
    finally:
        stop.set()
        thread.join()
    wait_quiescent(5)


# In a process of its own: here others' garbage may go at any time.
WAITS_LONG_AND_SHORT = """
import hashlib, sys, threading
from array import array
from harness.probes.heap import settle
from harness.quiescence import wait_quiescent

go, rounds = threading.Lock(), (1_000_000, 1) * 3 + (1,)
go.acquire()

def compute():
    for count in rounds:
        go.acquire()
        hashlib.pbkdf2_hmac("sha256", b"x", b"y", count)
    go.acquire()

thread = threading.Thread(target=compute, daemon=True)
thread.start()
blocks = array("q", [0] * (len(rounds) - 1))
for number in range(len(blocks)):
    wait_quiescent(30)
    go.release()
    wait_quiescent(30)
    settle()
    blocks[number] = sys.getallocatedblocks()
print(*blocks)
"""


def test_it_keeps_as_many_objects_after_a_long_wait_as_after_a_short_one() -> None:
    # A run at native speed counts the interpreter's blocks at the end of each cycle.
    command = [sys.executable, "-c", WAITS_LONG_AND_SHORT]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert len(set(printed[2:])) == 1, printed


def test_it_leaves_no_descriptor_open(worker: Worker) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(100):
        wait_quiescent(5)
    assert len(os.listdir("/proc/self/fd")) == before
    assert worker.thread.is_alive()
