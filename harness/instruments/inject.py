"""The inject instrument: cycles of one process, in each of which one operation fails.

Several points share a process: a cycle is a new instance, and takes some 20 ms, where a process
would take 100 more. A point that has broken something has spoilt it, so that it is the last; the
parent goes on in a fresh one.
"""

from __future__ import annotations

import gc

import msgspec

from harness.inject.points import BASELINE, SEEN, Baseline
from harness.instruments.setting import Setting


def run(setting: Setting) -> None:
    """Count, and leave a Baseline; or have fail what the spec says, and leave SEEN."""
    # They take torch, which the other instruments do without.
    from harness.inject.cycles import Cycles
    from harness.inject.hooks import installed

    cycles = Cycles(setting)
    gc.disable()
    gc.freeze()  # a sample collects, which is slow as long as all that was imported is in sight
    failing = setting.spec.failing
    with installed(cycles.watch):
        if failing is None:
            baseline = Baseline(cycles.count(), cycles.count(), cycles.watch.stacks)
            (setting.folder / BASELINE).write_bytes(msgspec.json.encode(baseline))
            return
        if not failing.first_use:
            cycles.run(None)
            gc.collect()
            gc.freeze()  # what first use has imported
        with (setting.folder / SEEN).open("ab", buffering=0) as file:
            for point in failing.points:
                seen = cycles.examine(point)
                file.write(msgspec.json.encode(seen) + b"\n")
                if seen.breaks or failing.first_use:
                    return
