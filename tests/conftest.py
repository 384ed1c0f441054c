"""Settings that all tests share."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import settings
from hypothesis.database import DirectoryBasedExampleDatabase

pytest_plugins = ["tests.properties.hooks"]

# What has failed once is tried first the next time, wherever pytest is started.
failed = DirectoryBasedExampleDatabase(Path(__file__).parents[1] / ".hypothesis" / "examples")
# No deadlines: how long an example takes depends on what else the machine does.
settings.register_profile("dev", deadline=None, database=failed)
settings.register_profile("ci", deadline=None, derandomize=True)
# A soak finds something new in CI, too, where Hypothesis would draw the same examples each time.
settings.register_profile(
    "soak", deadline=None, derandomize=False, database=failed, max_examples=2000
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev"))
