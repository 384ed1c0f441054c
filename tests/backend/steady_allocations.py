"""Counts the backend's own allocations on steady frames; run in a fresh process by test_steady.

Prints one JSON line per case: its name, the number of allocations per owner, and the places of
those that are the backend's own. Whatever is below torch's call of the model is the model's.
"""

import collections
import gc
import json
import os
import sys
import tempfile

import memray
import numpy as np

from backend import reference
from backend.frame import PIXEL_FORMATS, Frame

MODEL_CALL = os.path.join("torch", "nn", "modules", "module.py")
RELEASES = {
    memray.AllocatorType.FREE,
    memray.AllocatorType.MUNMAP,
    memray.AllocatorType.PYMALLOC_FREE,
}
MODES = {
    "sync": {"mode": "sync"},
    "async-1": {"mode": "async", "nireq": 1},
    "async-4": {"mode": "async", "nireq": 4},
}
WARM_UP, STEADY = 5, 3
LONG = 150  # for models that allocate nothing: shows also what happens once in a while


def make_frame(width, height, pixels):
    shape = PIXEL_FORMATS[pixels].shape(width, height)
    return Frame(np.ones(shape, PIXEL_FORMATS[pixels].dtype), pixels)


def feed(backend, frame, bursts):
    """Bursts of four frames, all collected: a step each at 100 fps."""
    for _ in range(bursts):
        for _ in range(4):
            backend.execute(frame)
        backend.flush()
        for _ in range(4):
            backend.get_result()


def count(function, *arguments):
    """Call the function and count who allocates how often, and where if it's the backend."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.bin")
        with memray.Tracker(path, file_format=memray.FileFormat.ALL_ALLOCATIONS):
            function(*arguments)
        owners, places = collections.Counter(), collections.Counter()
        for record in memray.FileReader(path).get_allocation_records():
            if record.allocator in RELEASES:
                continue
            stack = record.stack_trace()
            if any(file.endswith(MODEL_CALL) for _, file, _ in stack):
                owners["model"] += 1
            else:
                owners["backend"] += 1
                places[
                    "; ".join(f"{function} {file}:{line}" for function, file, line in stack)
                ] += 1
        return owners, places


def steady(factory, mode, pixels):
    """Steady bursts of one geometry."""
    frame = make_frame(40, 24, pixels)
    with factory(**MODES[mode]) as backend:
        feed(backend, frame, WARM_UP)
        bursts = LONG if factory.model in ("identity", "delay") else STEADY
        return count(feed, backend, frame, bursts)


def oscillating(factory, mode, pixels):
    """Steady bursts between jumps of resolution: the jump itself is warm-up, and not counted."""
    owners, places = collections.Counter(), collections.Counter()
    with factory(**MODES[mode]) as backend:
        frames = [make_frame(*size, pixels) for size in ((40, 24), (64, 64), (17, 9))]
        for frame in frames * 2:
            feed(backend, frame, 3)
            more_owners, more_places = count(feed, backend, frame, 3)
            owners += more_owners
            places += more_places
    return owners, places


def no_growth(factory, mode, pixels):
    """Growth of any buffer under jumps of resolution, once all sizes were seen."""
    with factory(**MODES[mode]) as backend:
        frames = [make_frame(*size, pixels) for size in ((40, 24), (64, 64), (17, 9), (64, 40))]
        for frame in frames:
            feed(backend, frame, 1)
        before = backend.stats()
        for frame in frames * 5:
            feed(backend, frame, 1)
        after = backend.stats()
        grown = after.growth_events - before.growth_events
        return {"backend": grown, "model": 0}, {"growth": grown} if grown else {}


def cases():
    factories = [
        reference.open_small,
        reference.open_espcn,
        reference.open_srcnn,
        reference.open_dncnn,
        reference.open_identity,
        reference.open_delay,
    ]
    for factory in factories:
        for mode in MODES:
            for pixels in factory.formats:
                yield steady, factory, mode, pixels
            yield no_growth, factory, mode, factory.formats[0]
    for factory in (reference.open_small, reference.open_delay):
        for mode in MODES:
            yield oscillating, factory, mode, "rgb24"


def main():
    gc.disable()
    # The first trace of a code object makes CPython build its table of line numbers, once.
    for mode in MODES:
        steady(reference.open_delay, mode, "rgb24")
    for measure, factory, mode, pixels in cases():
        owners, places = measure(factory, mode, pixels)
        name = f"{measure.__name__}-{factory.model}-{mode}-{pixels}"
        print(json.dumps([name, owners.get("model", 0), owners.get("backend", 0), dict(places)]))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
