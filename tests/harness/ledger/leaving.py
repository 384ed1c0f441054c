# ruff: noqa: RUF012 - what a class shares is the fault
"""Backends that leave one kind of resource behind in each cycle, and the same ones repaired.

What is left is kept in a list of the class: gone from the backend, and not from the process. The
line that a finding must name ends in the comment `# here: Name`.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import queue
import signal
import subprocess
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import shared_memory
from typing import Any

PAGE = 4096
MAPPED = 64 * PAGE
_libc = ctypes.CDLL(None)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


class Leaves:
    """A plain function of a frame that makes something when it is opened."""

    kept: list[Any] = []

    def __init__(self) -> None:
        self.made = self.make()
        self.kept.append(self.made)

    def make(self) -> Any:
        raise NotImplementedError

    def __call__(self, frame: Any) -> Any:
        return frame

    def close(self) -> None:
        pass


class Gives(Leaves):
    """The repaired twin, by what `release` does."""

    kept: list[Any] = []

    def close(self) -> None:
        if self.made is not None:
            self.kept.clear()
            self.release()
            self.made = None

    def release(self) -> None:
        raise NotImplementedError


class Thread(Leaves):
    def make(self) -> Any:
        self.work: queue.SimpleQueue[None] = queue.SimpleQueue()
        thread = threading.Thread(target=self.run, daemon=True)
        thread.start()
        return thread

    def run(self) -> None:
        self.work.get()  # here: Thread


class ThreadRepaired(Gives, Thread):
    def release(self) -> None:
        self.work.put(None)
        self.made.join()


class Executor(Leaves):
    def make(self) -> Any:
        executor = ThreadPoolExecutor(1, thread_name_prefix="decode")
        executor.submit(int).result()
        return executor


class ExecutorRepaired(Gives, Executor):
    def release(self) -> None:
        self.made.shutdown()


class Descriptor(Leaves):
    def make(self) -> Any:
        return os.open(__file__, os.O_RDONLY)


class DescriptorRepaired(Gives, Descriptor):
    def release(self) -> None:
        os.close(self.made)


class Pipe(Leaves):
    def make(self) -> Any:
        return os.pipe()


class PipeRepaired(Gives, Pipe):
    def release(self) -> None:
        os.close(self.made[0])
        os.close(self.made[1])


class MemfdOpen(Leaves):
    def make(self) -> Any:
        return os.memfd_create("frames")


class MemfdOpenRepaired(Gives, MemfdOpen):
    def release(self) -> None:
        os.close(self.made)


class MemfdMapped(Leaves):
    def make(self) -> Any:
        handle = os.memfd_create("frames")
        os.ftruncate(handle, MAPPED)
        mapped = mmap.mmap(handle, MAPPED)
        os.close(handle)
        return mapped


class MemfdMappedRepaired(Gives, MemfdMapped):
    def release(self) -> None:
        self.made.close()


class MappedFile(Leaves):
    """Read-only and private: neither writable nor shared."""

    def make(self) -> Any:
        with open(__file__, "rb") as file:
            return mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ)


class MappedFileRepaired(Gives, MappedFile):
    def release(self) -> None:
        self.made.close()


class Anonymous(Leaves):
    """The tracer sees the call."""

    def make(self) -> Any:
        return mmap.mmap(-1, MAPPED, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)  # here: Anonymous


class AnonymousRepaired(Gives, Anonymous):
    def release(self) -> None:
        self.made.close()


class Untraced(Leaves):
    """The tracer doesn't see the call: it goes through a function pointer."""

    def make(self) -> Any:
        return _libc.mmap(None, MAPPED, 3, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)


class UntracedRepaired(Gives, Untraced):
    def release(self) -> None:
        _libc.munmap(self.made, MAPPED)


class Executable(Leaves):
    def make(self) -> Any:
        return mmap.mmap(-1, PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, 7)


class ExecutableRepaired(Gives, Executable):
    def release(self) -> None:
        self.made.close()


class Segment(Leaves):
    """Closed, and not unlinked: unmapped long before anybody looks."""

    number = 0

    def make(self) -> Any:
        Segment.number += 1
        name = f"{os.environ['STEADYFRAME_LEDGER']}{os.getpid()}-{Segment.number}"
        segment = shared_memory.SharedMemory(name, create=True, size=PAGE)
        segment.close()
        return segment.name


class SegmentRepaired(Gives, Segment):
    def release(self) -> None:
        segment = shared_memory.SharedMemory(self.made)
        segment.close()
        segment.unlink()


class SegmentByHand(Leaves):
    """Made by other means than Python's class, and open as long as the backend is."""

    def make(self) -> Any:
        prefix = os.environ["STEADYFRAME_LEDGER"]
        handle, path = tempfile.mkstemp(dir="/dev/shm", prefix=prefix)
        self.handle = handle
        return path

    def close(self) -> None:
        if self.handle:
            os.close(self.handle)
            self.handle = 0


class SegmentByHandRepaired(SegmentByHand):
    def close(self) -> None:
        if self.handle:
            os.unlink(self.made)
        super().close()


class Child(Leaves):
    def make(self) -> Any:
        return subprocess.Popen(["sleep", "12345"])


class ChildRepaired(Gives, Child):
    def release(self) -> None:
        self.made.kill()
        self.made.wait()


class Fork(Leaves):
    def make(self) -> Any:
        pid = os.fork()
        if pid == 0:
            signal.pause()
            os._exit(0)
        return pid


class ForkRepaired(Gives, Fork):
    def release(self) -> None:
        os.kill(self.made, signal.SIGKILL)
        os.waitpid(self.made, 0)


class Once(Leaves):
    """All of it, made by the first backend for the life of the process: no fault."""

    parts = (Thread, Executor, Descriptor, MemfdMapped, MappedFile, Untraced, Executable, Child)
    shared: list[Any] = []

    def make(self) -> Any:
        if not self.shared:
            self.shared.extend(part() for part in self.parts)
        return None


class Repaired(Leaves):
    """All that is repaired, in one backend."""

    def make(self) -> Any:
        return [
            part()
            for part in (
                ThreadRepaired,
                ExecutorRepaired,
                DescriptorRepaired,
                PipeRepaired,
                MemfdOpenRepaired,
                MemfdMappedRepaired,
                MappedFileRepaired,
                AnonymousRepaired,
                UntracedRepaired,
                ExecutableRepaired,
                SegmentRepaired,
                SegmentByHandRepaired,
                ChildRepaired,
                ForkRepaired,
            )
        ]

    def close(self) -> None:
        self.kept.clear()
        while self.made:
            self.made.pop().close()


class Replaced(Leaves):
    """A thread that each backend replaces by its own: as many as before."""

    last: Any = None

    def make(self) -> Any:
        if Replaced.last is not None:
            Replaced.last.close()
        Replaced.last = ThreadRepaired()
        return None
