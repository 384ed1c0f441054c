"""Drive a backend with nothing measured: what peers run under."""

from __future__ import annotations

import sys

from harness import adapt
from harness.plan import plan_steps
from harness.source import synthetic_source
from harness.workload import Workload


def main(target: str, text: str, cycles: int) -> None:
    """All cycles of a workload, each frame submitted and its result taken."""
    workload = Workload.parse(text)
    source = synthetic_source(workload, "rgb24", 0)
    factory = adapt.load(target)
    frames = plan_steps(workload, 0, "rgb24")[-1].last + 1
    for _ in range(cycles):
        backend = adapt.open_backend(factory, {})
        for index in range(frames):
            backend.execute(source.frame(index))
            while backend.get_result() is not None:
                pass
        backend.flush()
        backend.close()
        del backend


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
