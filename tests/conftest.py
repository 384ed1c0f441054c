"""Settings that all tests share."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
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

# What a CI service sets changes what commands and pytest itself print, and where they write.
FOREIGN = (
    "BUILD_NUMBER",
    "CI",
    "FORCE_COLOR",
    "GITHUB_ACTIONS",
    "GITHUB_STEP_SUMMARY",
    "NO_COLOR",
    "PYTEST_ADDOPTS",
    "TF_BUILD",
)


@pytest.fixture(scope="session", autouse=True)
def same_everywhere() -> Iterator[None]:
    """Tests and the processes they start see the same variables on a desk and in CI.

    And an interrupt, which a shell has those ignore that it starts in the background.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.MonkeyPatch.context() as patch:
        for name in FOREIGN:
            patch.delenv(name, raising=False)
        yield
