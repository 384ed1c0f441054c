"""The screening instrument: a sample of cheap, exact numbers at each boundary, at native speed."""

from __future__ import annotations

import gc

from harness.flight import map_file
from harness.instruments.rehearsal import rehearse
from harness.instruments.setting import Setting
from harness.probes.heap import FIELDS, Sampler
from harness.spec import SAMPLES

INTERVALS_BESIDE_STEPS = 3
"""open, flush and close"""


def run(setting: Setting) -> None:
    """Write len(FIELDS) 64-bit integers for the start and for each interval's end to SAMPLES."""
    intervals = (len(setting.steps) + INTERVALS_BESIDE_STEPS) * setting.spec.cycles
    memory = map_file(setting.folder / SAMPLES, 8 * len(FIELDS) * (intervals + 1))
    rehearse(setting, Sampler([0] * len(FIELDS) * (len(setting.steps) + INTERVALS_BESIDE_STEPS)))
    sample = Sampler(memoryview(memory).cast("q"))
    driver = setting.driver(sample)
    gc.collect()
    gc.disable()
    sample()
    try:
        for number in range(1, setting.spec.cycles + 1):
            driver.run_cycle(number)
    finally:
        setting.outcome.nireq = driver.nireq
