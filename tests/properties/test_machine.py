"""The reference backend under generated programs of calls."""

from __future__ import annotations

from hypothesis import settings

from backend.reference import TorchBackend
from tests.properties.drawing import times
from tests.properties.machine import BackendMachine

PROGRAMS = 150


class Machine(BackendMachine):
    """Of the reference backend."""

    open_backend = TorchBackend


TestReference = Machine.TestCase
TestReference.settings = settings(times(PROGRAMS), stateful_step_count=30)
