# ruff: noqa: RUF012 - what a class shares is the fault
"""Small backends that leave something behind when they are closed, and the same ones repaired.

Faulty lines are marked as in planted.py.
"""

from __future__ import annotations

import mmap
import os
import queue
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any

PAGE = 4096


class Registry:
    """Each backend is entered in a list of the class, and never taken out."""

    all: list[bytearray] = []

    def __init__(self) -> None:
        self._entry = bytearray(1000)  # fault: Registry
        self.all.append(self._entry)

    def __call__(self, frame: Any) -> Any:
        return frame


class RegistryRepaired(Registry):
    all: list[bytearray] = []

    def close(self) -> None:
        self.all.remove(self._entry)


class FirstUse:
    """A table that the first backend makes, and all later ones use: no fault."""

    table: bytearray | None = None

    def __init__(self) -> None:
        if FirstUse.table is None:
            FirstUse.table = bytearray(5000)  # first use

    def __call__(self, frame: Any) -> Any:
        return frame


class Cycle:
    """Two objects that refer to each other: only the garbage collector would free them."""

    def __init__(self) -> None:
        self._state = bytearray(5000)  # fault: Cycle
        self._self = self

    def __call__(self, frame: Any) -> Any:
        return frame

    def close(self) -> None:
        pass


class CycleRepaired(Cycle):
    def close(self) -> None:
        del self._self


class Passes:
    """Gives back what it gets; what is left behind comes from those below."""

    def __call__(self, frame: Any) -> Any:
        return frame


class LeavesThread(Passes):
    def __init__(self) -> None:
        self._work: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work.get, name="left-thread", daemon=True)
        self._thread.start()


class LeavesThreadRepaired(LeavesThread):
    def close(self) -> None:
        self._work.put(None)
        self._thread.join()


class LeavesDescriptor(Passes):
    def __init__(self) -> None:
        self._descriptor = os.open(__file__, os.O_RDONLY)


class LeavesDescriptorRepaired(LeavesDescriptor):
    def close(self) -> None:
        os.close(self._descriptor)


class LeavesChild(Passes):
    def __init__(self) -> None:
        self._child = subprocess.Popen(["sleep", "1000"])


class LeavesChildRepaired(LeavesChild):
    def close(self) -> None:
        self._child.kill()
        self._child.wait()


class LeavesSharedMemory(Passes):
    def __init__(self) -> None:
        # Named for the test that removes it. Python's own SharedMemory would start a process.
        handle, name = tempfile.mkstemp(dir="/dev/shm", prefix=os.environ["STEADYFRAME_MARKER"])
        os.ftruncate(handle, PAGE)
        self._map = mmap.mmap(handle, PAGE)
        os.close(handle)
        self._path = Path(name)

    def close(self) -> None:
        self._map.close()


class LeavesSharedMemoryRepaired(LeavesSharedMemory):
    def close(self) -> None:
        self._map.close()
        self._path.unlink()


class LeavesMapping(Passes):
    """A file that stays mapped though its descriptor is closed."""

    mapped: list[mmap.mmap] = []

    def __init__(self) -> None:
        handle, name = tempfile.mkstemp()
        os.ftruncate(handle, PAGE)
        self.mapped.append(mmap.mmap(handle, PAGE))
        os.close(handle)
        self._path = Path(name)

    def close(self) -> None:
        self._path.unlink()


class LeavesMappingRepaired(LeavesMapping):
    def close(self) -> None:
        self.mapped.pop().close()
        super().close()
