"""The reference backend under generated programs of calls."""

from __future__ import annotations

from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from backend.reference import TorchBackend
from tests.properties.machine import BackendMachine
from tests.properties.rounds import in_rounds, times

PROGRAM_COUNT = 150
CALLS = 30


class Machine(BackendMachine):
    """Of the reference backend."""

    open_backend = TorchBackend


@in_rounds
def test_every_program_leaves_what_the_model_says() -> None:
    run_state_machine_as_test(
        Machine, settings=settings(times(PROGRAM_COUNT), stateful_step_count=CALLS)
    )
