"""Make the calls of a program, as a failure of the state machine prints it, once more.

    .venv/bin/python -m tests.properties.program 'open moody sync 1, execute 1x1:rgb24 *1, get'

Ends with 0 if all is as it must be, with 1 if not, and says what, with 2 for what is no program.
"""

from __future__ import annotations

import argparse
import importlib
import re
import sys
from collections.abc import Callable
from typing import Any

from harness.errors import UsageError
from tests.properties.machine import BAD, CALLS_APART, FORMATS, MODELS, REPLAY, BackendMachine

REFERENCE = "backend.reference:TorchBackend"
CALL = re.compile(
    rf"open (?P<model>{'|'.join(MODELS)}) (?P<mode>sync|async) (?P<nireq>\d+)"
    rf"|execute (?P<width>\d+)x(?P<height>\d+):(?P<format>{'|'.join(FORMATS)}) \*(?P<count>\d+)"
    rf"|bad (?P<kind>{'|'.join(BAD)})|drop (?P<number>\d+)"
    r"|fail next|get|get and keep|flush|close|use closed"
)


def rerun(kind: type[BackendMachine], text: str) -> None:
    """Make the calls, and hold against the model what is there after each, as the machine does.

    Raises AssertionError, or whatever the backend raises, and UsageError.
    """
    calls = [CALL.fullmatch(call) for call in text.split(CALLS_APART)]
    if not all(calls) or not text.startswith("open "):
        raise UsageError(f"{text!r} is no program: paste one as a failure prints it")
    machine = kind()
    try:
        for call in calls:
            assert call is not None
            _make(machine, call)
            machine.counts_are_consistent()
            machine.kept_results_stay_as_they_are()
            machine.what_is_held_is_what_the_model_says()
    finally:
        machine.teardown()


def least(kind: type[BackendMachine], text: str, said: str) -> str:
    """The program without the calls that it needs not to fail so, many left out at first."""
    calls = text.split(CALLS_APART)
    for length in range(len(calls) - 1, 0, -1):
        for start in range(len(calls) - length + 1):
            fewer = CALLS_APART.join(calls[:start] + calls[start + length :])
            if said in _failure(kind, fewer):
                return least(kind, fewer, said)
    return text


def _failure(kind: type[BackendMachine], text: str) -> str:
    """What is said of a program that does not do as it must. A call out of its place fails too."""
    try:
        rerun(kind, text)
    except Exception as error:
        return str(error)
    return ""


def _make(machine: BackendMachine, call: re.Match[str]) -> None:
    match call[0].split()[0]:
        case "open" if machine.backend is None:
            machine.open(mode=call["mode"], nireq=int(call["nireq"]), model=call["model"])
        case "open":
            machine.reopen(mode=call["mode"], nireq=int(call["nireq"]))
        case "execute":
            geometry = int(call["width"]), int(call["height"])
            machine.execute(geometry, pixel_format=call["format"], count=int(call["count"]))
        case "bad":
            machine.feed_a_bad_frame(kind=call["kind"])
        case "drop":
            machine.drop(int(call["number"]))
        case "fail":
            machine.fail_the_next_inference()
        case "get":
            machine.get_result(keep=call[0] == "get and keep")
        case "flush":
            machine.flush()
        case "close":
            machine.close()
        case "use":
            machine.use_after_close()


def machine_of(backend: Callable[..., Any]) -> type[BackendMachine]:
    """The machine that uses this backend."""
    return type("Machine", (BackendMachine,), {"open_backend": backend})


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog=f"python -m {REPLAY}", description="Make calls again.")
    parser.add_argument("program", help="as the failure has printed it")
    parser.add_argument("--backend", default=REFERENCE, metavar="MODULE:NAME")
    given = parser.parse_args(arguments)
    module, _, name = given.backend.partition(":")
    backend = getattr(importlib.import_module(module), name)
    try:
        rerun(machine_of(backend), given.program)
    except UsageError as error:
        print(error, file=sys.stderr)
        return 2
    except AssertionError as error:
        print(error, file=sys.stderr)
        return 1
    print("all is as it must be")
    return 0


if __name__ == "__main__":
    sys.exit(main())
