"""What a caller asks for, put into the words of a run."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from harness import given
from harness.contract import Contract
from harness.errors import UsageError
from harness.names import METHODS
from harness.result import Cost, Report, Teardown
from harness.spec import RunSpec
from harness.workload import Workload

SCHEMA = 1
DEFAULT_SCENARIO = "concat-jump"


def request(
    target: str,
    workload: Workload | str | None,
    *,
    video: Path | None,
    cycles: int,
    seed: int,
    options: Mapping[str, Any] | None,
    stateful: bool,
    timeout: float,
    memory_limit: int | None,
    methods: Mapping[str, str] | None = None,
) -> RunSpec:
    """The traced run of a target that harness.inherited.reachable gave. Raises UsageError."""
    if isinstance(workload, str) or workload is None:
        workload = Workload.named_or_parsed(DEFAULT_SCENARIO if workload is None else workload)
    spec = RunSpec(
        target=target,
        options=given.mapping("options", options, '{"nireq": 4}'),
        workload=None if video else str(workload),
        video=str(given.path("video", video).absolute()) if video else None,
        cycles=given.whole("cycles", cycles, 1),
        instrument="trace",
        seed=given.whole("seed", seed, 0),
        patience_s=given.seconds(timeout) / 2,
        sys_path=tuple(os.path.abspath(part) for part in sys.path),
        cwd=os.getcwd(),
        stateful=stateful,
        memory_limit=memory_limit,
        methods=_checked(given.mapping("methods", methods, '{"execute": "infer"}')),
    )
    _check_readable(spec)
    return spec


def _check_readable(spec: RunSpec) -> None:
    """Raise a UsageError for what a child could not read: its failure would look the backend's."""
    try:
        msgspec.json.decode(msgspec.json.encode(spec), type=RunSpec)
    except UnicodeEncodeError as error:
        raise UsageError(f"{error.object!r} is not UTF-8: give it another name") from None
    except (msgspec.ValidationError, TypeError, OverflowError) as error:
        raise UsageError(f"{error}: give it a plain value of the type that verify names") from None


def _checked(methods: Mapping[str, str]) -> dict[str, str]:
    for method in methods:
        if method not in METHODS:
            raise UsageError(f"{method!r} is no method of a backend: map {', '.join(METHODS)}")
    return dict(methods)


def blank_report(spec: RunSpec, target: str, contract: Contract, again: str) -> Report:
    """A report of which nothing is known yet but what was asked for. `again` is its replay."""
    return Report(
        schema=SCHEMA,
        verdict="no-verdict",
        level=contract.level,
        target=target,
        workload=spec.workload or "",
        seed=spec.seed,
        rules=(),
        steps=(),
        teardown=Teardown({}, {}),
        cost=Cost(0, 0),
        environment={},
        replay=again,
        cycles=spec.cycles,
        video=spec.video or "",
        options=dict(spec.options),
    )
