"""The one run of the folder of tests that many tests look at."""

from __future__ import annotations

import pytest

from tests.plugin.world import World


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """The one run."""
    return World(tmp_path_factory.mktemp("world"))
