# ruff: noqa: ARG001, ARG002, RUF012 - signatures are given, and what a class shares is the fault
"""Small backends with one planted fault each, and the same backend repaired.

The faulty line of `Name` ends in the comment `# fault: Name`, so that a test finds its number by
searching this file. `NameRepaired` is its green twin.
"""

from __future__ import annotations

import mmap
import os
import queue
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import torch

PAGE = 4096


class Kept:
    """One tensor kept per frame."""

    def __init__(self) -> None:
        self._kept: list[torch.Tensor] = []

    def __call__(self, frame: Any) -> Any:
        self._kept.append(torch.ones(4))  # fault: Kept
        return frame


class KeptRepaired:
    def __init__(self) -> None:
        self._kept = torch.ones(4)

    def __call__(self, frame: Any) -> Any:
        self._kept.zero_()
        return frame


class Churn:
    """A buffer made for each frame, and freed in the same step."""

    def __call__(self, frame: Any) -> Any:
        buffer = bytearray(frame.data.nbytes)  # fault: Churn
        buffer[0] = 1
        return frame


class GrowOnly:
    """A buffer that grows when a larger frame comes, and at no other time."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def __call__(self, frame: Any) -> Any:
        if len(self._buffer) < frame.data.nbytes:
            self._buffer = bytearray(frame.data.nbytes)
        self._buffer[0] = 1
        return frame


class ChurnRepaired(GrowOnly):
    pass


class View:
    """A view made for each frame: small blocks only, no data."""

    def __init__(self) -> None:
        self._buffer = torch.zeros(4096)

    def __call__(self, frame: Any) -> Any:
        self._buffer.view(64, 64)  # fault: View
        return frame


class ViewRepaired:
    def __init__(self) -> None:
        self._buffer = torch.zeros(4096)
        self._view = self._buffer.view(64, 64)

    def __call__(self, frame: Any) -> Any:
        self._view.zero_()
        return frame


class Shrinks:
    """A buffer that is fitted to each geometry, smaller ones included."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def __call__(self, frame: Any) -> Any:
        if len(self._buffer) != frame.data.nbytes:
            self._buffer = bytearray(frame.data.nbytes)  # fault: Shrinks
        return frame


class ShrinksRepaired(GrowOnly):
    pass


class GrowsLate:
    """A buffer that is not large enough at once: it grows on the third frame of a size."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._frames = 0

    def __call__(self, frame: Any) -> Any:
        self._frames += 1
        if self._frames == 3:
            self._buffer = bytearray(3 * PAGE)  # fault: GrowsLate
        return frame


class GrowsLateRepaired:
    def __init__(self) -> None:
        self._buffer = bytearray(3 * PAGE)

    def __call__(self, frame: Any) -> Any:
        return frame


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


class Slot:
    """A slot that each cycle overwrites: no fault."""

    last: bytearray | None = None

    def __init__(self) -> None:
        Slot.last = bytearray(5000)

    def __call__(self, frame: Any) -> Any:
        return frame


class SeldomLeak:
    """600 bytes lost on each 50th frame, and not even given back when it is closed."""

    lost: list[bytes] = [b""] * 1000

    def __init__(self) -> None:
        self._frames = 0

    def __call__(self, frame: Any) -> Any:
        self._frames += 1
        if self._frames % 50 == 0:
            self.lost[self.lost.index(b"")] = bytes(600)  # fault: SeldomLeak
        return frame


class SeldomLeakRepaired:
    def __call__(self, frame: Any) -> Any:
        return frame


class KeepsInput:
    """Keeps the frames that it is given: what grows is the memory of the source."""

    def __init__(self) -> None:
        self._frames: list[Any] = [None] * 1000
        self._count = 0

    def __call__(self, frame: Any) -> Any:
        self._frames[self._count] = frame
        self._count += 1
        return frame


class KeepsInputRepaired(KeepsInput):
    def __call__(self, frame: Any) -> Any:
        self._frames[0] = frame
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


class _Doubles(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + x  # the model's


class OwnsModel:
    """A model with a forward that allocates; the backend itself allocates nothing."""

    def __init__(self) -> None:
        self._model = _Doubles()
        self._input = torch.zeros(256)

    def __call__(self, frame: Any) -> Any:
        self._model(self._input)
        return frame


class CallsBack(OwnsModel):
    """Code of the backend that a model calls is below the model."""

    def __init__(self) -> None:
        super().__init__()
        self._model.register_forward_hook(_hook)


def _hook(module: Any, inputs: Any, output: torch.Tensor) -> torch.Tensor:
    return output.clone()  # called back


class AllocatingWorker:
    """A thread of the backend's own makes a buffer per frame."""

    def __init__(self) -> None:
        self._in: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._out: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._pending = 0
        self._thread = threading.Thread(target=self._work, name="worker")
        self._thread.start()

    def _work(self) -> None:
        while (frame := self._in.get()) is not None:
            self.process(frame)
            self._out.put(frame)
            frame = None

    def process(self, frame: Any) -> None:
        torch.ones(64)  # fault: AllocatingWorker

    def execute(self, frame: Any) -> None:
        self._pending += 1
        self._in.put(frame)

    def get_result(self) -> Any:
        if self._out.empty():
            return None
        self._pending -= 1
        return self._out.get()

    def flush(self) -> None:
        pass

    def close(self) -> None:
        if self._thread.is_alive():
            self._in.put(None)
            self._thread.join()


class AllocatingWorkerRepaired(AllocatingWorker):
    def process(self, frame: Any) -> None:
        pass


class SleepingWorker(AllocatingWorker):
    """Its thread sleeps over each frame, as if it waited for a device."""

    def process(self, frame: Any) -> None:
        time.sleep(0.01)

    def flush(self) -> None:
        while self._out.qsize() < self._pending:
            time.sleep(0.001)


class Pool:
    """Three threads of the backend's own; one of them allocates twice as often per frame."""

    def __init__(self) -> None:
        self._in: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._out: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=self._work) for _ in range(3)]
        for thread in self._threads:
            thread.start()

    def _work(self) -> None:
        while (frame := self._in.get()) is not None:
            buffer = torch.ones(64)
            if frame.pts % 3 == 0:
                buffer = torch.zeros(2048)
            del buffer
            self._out.put(frame)
            frame = None

    def execute(self, frame: Any) -> None:
        self._in.put(frame)

    def get_result(self) -> Any:
        return None if self._out.empty() else self._out.get()

    def flush(self) -> None:
        pass

    def close(self) -> None:
        for _ in self._threads:
            self._in.put(None)
        for thread in self._threads:
            thread.join()


class _Holds:
    """Holds frames back. Counts only, so that it allocates nothing itself."""

    def __init__(self) -> None:
        self.submitted = 0
        self._returned = 0
        self._flushed = False

    def execute(self, frame: Any) -> None:
        self.submitted += 1

    def held(self) -> int:
        raise NotImplementedError

    def get_result(self) -> Any:
        if self.submitted - self._returned > (0 if self._flushed else self.held()):
            self._returned += 1
            return True
        return None

    def flush(self) -> None:
        self._flushed = True

    def close(self) -> None:
        pass


class LagsTwo(_Holds):
    def held(self) -> int:
        return 2


class HoldsUntilFlush(_Holds):
    def held(self) -> int:
        return 1000


class Batches(_Holds):
    """Every fourth frame releases four."""

    def held(self) -> int:
        return self.submitted % 4


class SpinningWorker(AllocatingWorker):
    """Its thread is busy for a while over each frame, without the interpreter lock."""

    def __init__(self) -> None:
        super().__init__()
        self._matrix = torch.zeros(400, 400)
        self._result = torch.zeros(400, 400)

    def process(self, frame: Any) -> None:
        for _ in range(20):
            torch.mm(self._matrix, self._matrix, out=self._result)
