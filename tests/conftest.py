"""Settings that all tests share."""

from __future__ import annotations

import os

from hypothesis import settings

# No deadlines: how long an example takes depends on what else the machine does.
settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.register_profile("soak", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev"))
