"""Runs networks by plan and by torch in a process of its own, and counts what is allocated.

Reads one JSON line per network: parts (see `nets`), channels, height, width, lanes. Answers with
one: the largest difference between the two outputs over the largest output, the allocations of the
second frame, and the arena over the least that is alive at once. memray counts, with no other
thread at work than the plan's own.
"""

import gc
import json
import sys
import tempfile
from pathlib import Path

import memray
import torch

from backend.errors import UnusableError
from backend.planned.executor import PlannedExecutor
from tests.backend.planned.nets import build

RELEASES = {
    memray.AllocatorType.FREE,
    memray.AllocatorType.MUNMAP,
    memray.AllocatorType.PYMALLOC_FREE,
}
WARM_UP = 1  # CPython makes a table of line numbers for a tracer, once per code object


def allocations(function):
    """Where a call of the function allocates, and how much."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.bin"
        with memray.Tracker(path, file_format=memray.FileFormat.ALL_ALLOCATIONS):
            function()
        return [
            (record.size, record.stack_trace(max_stacks=4))
            for record in memray.FileReader(path).get_allocation_records()
            if record.allocator not in RELEASES
        ]


def expected(module, frame):
    """In double precision, so that only our own error counts."""
    module.double()
    try:
        return module(frame.double())
    finally:
        module.float()


def measure(parts, channels, height, width, lanes):
    module, _ = build(parts, channels)
    frame = torch.randn(1, channels, height, width)
    executor = PlannedExecutor(module, lanes)
    try:
        try:
            plan, _ = executor.plan(channels, height, width)
        except UnusableError as error:
            return {"unusable": str(error)}

        def run():
            # Each time: the input's memory is used again once nobody needs the input any more.
            plan.input.tensor.copy_(frame)
            return executor.run(plan)

        output = run().clone()
        for _ in range(WARM_UP):
            allocations(run)
        again = allocations(run)
        wanted = expected(module, frame)
        difference = (output.double() - wanted).abs().max() / wanted.abs().max()
        return {
            "shape": list(output.shape) == list(wanted.shape),
            "error": float(difference),
            "same": bool(torch.equal(output, run())),
            "allocations": again,
            "arena": plan.layout.floats / plan.layout.least_floats,
        }
    finally:
        executor.close()


def main():
    torch.set_num_threads(1)
    gc.disable()
    with torch.no_grad():
        for line in sys.stdin:
            job = json.loads(line)
            if job["parts"] is None:
                found = {"allocations": len(allocations(lambda: bytearray(5000)))}
            else:
                found = measure(**job)
            print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
