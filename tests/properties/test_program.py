"""A program that a failure prints does the same again, to the same backend."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from backend.reference import TorchBackend
from harness.errors import UsageError
from tests.properties.machine import CALLS_APART, REPLAY, BackendMachine
from tests.properties.planted import close_in_flight, failure_then_larger
from tests.properties.program import machine_of, main, rerun

EVERY_CALL = (
    "open keeping async 2, execute 3x2:gray8 *3, get and keep, drop 0, fail next, "
    "execute 5x4:grayf32 *1, bad shape, get, get, get, get, flush, close, close, use closed, "
    "open keeping sync 1, execute 1x1:rgb24 *1"
)


def note_of(error: BaseException) -> list[str]:
    """The arguments of the command that a failure says will replay it."""
    (note,) = [one for one in error.__notes__ if one.startswith("replay: ")]
    words = shlex.split(note.removeprefix("replay: "))
    assert words[:3] == [".venv/bin/python", "-m", REPLAY]
    return words[3:]


def test_a_program_of_every_call_is_made_in_order() -> None:
    kind = machine_of(TorchBackend)
    rerun(kind, EVERY_CALL)
    assert CALLS_APART.join(kind.program) == EVERY_CALL


def test_whatever_the_machine_does_can_be_done_again() -> None:
    again = machine_of(TorchBackend)
    programs = []

    class Twice(BackendMachine):
        open_backend = TorchBackend

        def teardown(self) -> None:
            super().teardown()
            if self.program:
                programs.append(CALLS_APART.join(self.program))
                rerun(again, programs[-1])
                assert CALLS_APART.join(again.program) == programs[-1]

    few = settings(max_examples=15, stateful_step_count=20, derandomize=True, database=None)
    run_state_machine_as_test(Twice, settings=few)
    assert len(programs) >= 15


def test_what_failed_fails_again_with_the_printed_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    program = "open moody sync 1, bad format, get, execute 1x1:rgb24 *1"
    with pytest.raises(AssertionError, match="the largest frames had 3 and 12") as raised:
        rerun(machine_of(failure_then_larger.Faulty), program)
    words = note_of(raised.value)
    assert words[-1] == program
    assert main(words) == 1
    assert "the largest frames had 3 and 12" in capsys.readouterr().err
    assert main([word.replace("Faulty", "Repaired") for word in words]) == 0


def test_what_fails_when_all_is_given_back_has_a_replay_too() -> None:
    program = "open moody async 1, execute 1x1:rgb24 *1, close"
    with pytest.raises(AssertionError, match="after close and the last reference") as raised:
        rerun(machine_of(close_in_flight.Faulty), program)
    assert note_of(raised.value)[-1] == program
    rerun(machine_of(close_in_flight.Repaired), program)


@pytest.mark.parametrize("text", ["", "get", "open moody sync", "open moody sync 1, dance"])
def test_what_is_no_program_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError):
        rerun(machine_of(TorchBackend), text)
    assert main([text]) == 2
    assert capsys.readouterr().err == f"{text!r} is no program: paste one as a failure prints it\n"
