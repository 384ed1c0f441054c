"""The queues: order, blocking, closing, and reuse."""

import time

import pytest

from backend.queues import BlockingQueue, TaskQueue


def filled(capacity, count):
    queue = BlockingQueue(capacity)
    for item in range(count):
        queue.put(item)
    return queue


def test_items_come_out_in_order_round_and_round():
    queue = filled(3, 2)
    for item in range(2, 20):
        queue.put(item)
        assert queue.get() == item - 2
    assert queue.drain() == [18, 19]
    assert len(queue) == 0


def test_what_is_put_back_comes_out_next():
    queue = filled(3, 3)
    for turn in range(7):
        assert queue.get() == turn % 3
        queue.put_back(turn % 3)
        assert queue.get() == turn % 3
        queue.put(turn % 3)
    assert len(queue) == 3


def test_get_waits_for_an_item(in_thread):
    queue, got = filled(2, 0), []
    thread = in_thread(lambda: got.append(queue.get()))
    time.sleep(0.02)
    assert thread.is_alive()
    queue.put("item")
    thread.join(5)
    assert got == ["item"]


def test_wait_for_takes_nothing_and_waits_for_as_many_as_asked(in_thread):
    queue = filled(3, 1)
    thread = in_thread(lambda: queue.wait_for(3))
    queue.put(1)
    time.sleep(0.02)
    assert thread.is_alive()
    queue.put(2)
    thread.join(5)
    assert not thread.is_alive()
    assert len(queue) == 3


def test_close_wakes_the_waiter_and_lets_nothing_more_out(in_thread):
    queue, got = filled(2, 0), []
    thread = in_thread(lambda: got.append(queue.get()))
    time.sleep(0.02)
    queue.close()
    thread.join(5)
    assert got == [None]
    queue.put("left")
    assert queue.get() is None
    assert queue.drain() == ["left"]


def test_more_items_than_the_queue_was_made_for_is_a_bug_and_says_so():
    with pytest.raises(AssertionError, match="more items"):
        filled(2, 3)


def test_a_wait_that_was_interrupted_does_no_harm():
    """Ctrl-C in `execute`: a later item rings for a waiter that is gone."""
    queue = filled(3, 0)

    class Bell:
        """The queue's bell; its first blocking wait is interrupted, the second finds items."""

        def __init__(self, bell):
            self.bell, self.waits, self.release = bell, 0, bell.release

        def acquire(self, blocking=True):
            if blocking:
                self.waits += 1
                if self.waits == 1:
                    raise KeyboardInterrupt
                queue.put(1)
                queue.put(2)  # must not ring a bell that still rings
            return self.bell.acquire(blocking)

    queue._bell = Bell(queue._bell)
    with pytest.raises(KeyboardInterrupt):
        queue.get()
    queue.put(0)  # rings for nobody
    queue.wait_for(3)
    assert queue.drain() == [0, 1, 2]


def test_no_wake_up_is_lost_between_two_threads(in_thread):
    there, back = filled(1, 0), filled(1, 0)
    rounds = 5000

    def echo():
        for _ in range(rounds):
            back.put(there.get())

    in_thread(echo)
    for number in range(rounds):
        there.put(number)
        assert back.get() == number


def test_tasks_come_out_in_order_however_they_are_finished():
    queue = TaskQueue(4)
    first, second = queue.begin(), queue.begin()
    second.done = True
    assert queue.pop_done() is None
    first.done = True
    assert queue.pop_done() is first
    assert queue.pop_done() is second
    assert queue.pop_done() is None


def test_task_queue_grows_without_losing_the_order_and_then_reuses_its_tasks():
    queue = TaskQueue(2)
    for _ in range(3):  # so that the oldest isn't in the first place when it grows
        queue.begin().done = True
        task = queue.pop_done()
        task.clear()
    begun = []
    for pts in range(37):
        task = queue.begin()
        task.pts, task.done = pts, True
        begun.append(task)
    for expected in begun:
        task = queue.pop_done()
        assert task is expected
        task.clear()
    assert {id(queue.begin()) for _ in range(37)} <= {id(task) for task in queue._tasks}


def test_drained_task_queue_holds_nothing():
    queue = TaskQueue(2)
    task = queue.begin()
    task.result, task.done = object(), True
    queue.drain()
    assert queue.pop_done() is None
    assert task.result is None
