"""The four queues of a backend, as in FFmpeg, without an allocation or a new lock per item."""

from __future__ import annotations

import threading
from typing import Generic, TypeVar

from backend.errors import FrameError
from backend.frame import Frame
from backend.results import ResultSlot

T = TypeVar("T")


class Task:
    """One frame's job, and what became of it. Reused by the task queue."""

    __slots__ = ("done", "error", "pts", "result")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.done = False
        """set last, by whoever finishes the task: from then on it belongs to the caller"""
        self.pts = 0
        self.result: ResultSlot | None = None
        self.error: FrameError | None = None

    def collect(self) -> Frame | FrameError:
        """What became of the frame; the task is blank then."""
        slot, error = self.result, self.error
        self.clear()
        if error is not None:
            return error
        assert slot is not None
        return slot.hand_out()


class LastLevelTask:
    """The unit handed to one inference request. Here a task has exactly one."""

    __slots__ = ("task",)

    def __init__(self) -> None:
        self.task: Task | None = None


class TaskQueue:
    """Tasks in the order of submission, used by the caller's thread alone.

    The queue owns its tasks and reuses them. It doubles when more results wait uncollected than
    ever before; what is in flight is bounded elsewhere, by the requests.
    """

    __slots__ = ("_count", "_head", "_tasks")

    def __init__(self, capacity: int) -> None:
        self._tasks = [Task() for _ in range(capacity)]
        self._head = 0
        self._count = 0

    def begin(self) -> Task:
        """The task of the frame that is submitted next."""
        if self._count == len(self._tasks):
            in_order = self._tasks[self._head :] + self._tasks[: self._head]
            self._tasks = in_order + [Task() for _ in in_order]
            self._head = 0
        task = self._tasks[(self._head + self._count) % len(self._tasks)]
        self._count += 1
        return task

    def pop_done(self) -> Task | None:
        """The oldest task if it is done, None if it isn't or there is none. The taker collects."""
        if self._count == 0:
            return None
        task = self._tasks[self._head]
        if not task.done:
            return None
        self._head = (self._head + 1) % len(self._tasks)
        self._count -= 1
        return task

    def drain(self) -> None:
        """Drop all results and errors that nobody collected."""
        for task in self._tasks:
            task.clear()
        self._head = self._count = 0


class BlockingQueue(Generic[T]):
    """A bounded first-in-first-out queue, for any threads that put and one that waits.

    The standard library's queues allocate: `queue.Queue` a lock per wait, `deque` its blocks.
    Here a list of fixed length holds the items, and one lock, made once, is the waiter's bell.
    """

    __slots__ = ("_bell", "_closed", "_count", "_head", "_items", "_mutex", "_wanted")

    def __init__(self, capacity: int) -> None:
        self._items: list[T | None] = [None] * capacity
        self._head = 0
        self._count = 0
        self._closed = False
        self._mutex = threading.Lock()
        self._wanted = 0
        """the number of items that the waiter waits for; 0 while nobody waits"""
        self._bell = threading.Lock()  # locked, but for the moment between ring and wake-up
        self._bell.acquire()

    def __len__(self) -> int:
        return self._count

    def put(self, item: T) -> None:
        """Append an item. There is always room: the queue holds all items that exist."""
        with self._mutex:
            assert self._count < len(self._items), "more items than the queue was made for"
            self._items[(self._head + self._count) % len(self._items)] = item
            self._added()

    def put_back(self, item: T) -> None:
        """Return to the front what `get` gave last, as if it had not been taken."""
        with self._mutex:
            assert self._count < len(self._items), "more items than the queue was made for"
            self._head = (self._head - 1) % len(self._items)
            self._items[self._head] = item
            self._added()

    def get(self) -> T | None:
        """Take the oldest item, waiting for one. None once the queue is closed."""
        self.wait_for(1)
        with self._mutex:
            return None if self._closed else self._take()

    def wait_for(self, count: int) -> None:
        """Wait until there are at least `count` items, or the queue is closed."""
        while True:
            with self._mutex:
                if self._count >= count or self._closed:
                    self._wanted = 0
                    return
                # An earlier wait that an exception cut short may have left the bell rung.
                self._bell.acquire(blocking=False)
                self._wanted = count
            self._bell.acquire()

    def close(self) -> None:
        """Let nothing more out by `get`, and wake whoever waits."""
        with self._mutex:
            self._closed = True
            if self._wanted:
                self._ring()

    def drain(self) -> list[T]:
        """Take out all items, oldest first."""
        with self._mutex:
            items = []
            while self._count:
                items.append(self._take())
            return items

    def _take(self) -> T:
        item = self._items[self._head]
        assert item is not None
        self._items[self._head] = None
        self._head = (self._head + 1) % len(self._items)
        self._count -= 1
        return item

    def _added(self) -> None:
        self._count += 1
        if 0 < self._wanted <= self._count:
            self._ring()

    def _ring(self) -> None:
        self._wanted = 0
        self._bell.release()
