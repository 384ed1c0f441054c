"""The command that makes a run again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from harness.contract import Contract
from harness.inherited import is_inherited
from harness.spec import RunSpec
from harness.workload import SCENARIOS


def replay(
    spec: RunSpec,
    target: str,
    contract: Contract,
    owners: Sequence[tuple[str, str]],
    *,
    quick: bool = False,
    soak: int | None = None,
    instead: str = "",
) -> str:
    """The command that does this again; for what no command can import, what is given instead."""
    if is_inherited(spec.target):
        return instead or f"verify {target} from where it is made: no command can import it"
    words = ["steadyframe", "verify", target]
    if spec.video:
        words += ["--video", spec.video]
    elif spec.workload:
        named = {str(workload): name for name, workload in SCENARIOS.items()}
        words += ["--workload", named.get(spec.workload, spec.workload)]
    if soak is None:
        words += ["--level", contract.level, "--cycles", str(spec.cycles)]
    else:
        words += ["--soak", str(soak), *(("--pace", "realtime") if spec.real_time else ())]
    if contract.warmup is not None:
        words += ["--warmup", str(contract.warmup)]
    if spec.seed:
        words += ["--seed", str(spec.seed)]
    for name, value in spec.options.items():
        words += ["--arg", f"{name}={value}"]
    for method, name in spec.methods.items():
        words += ["--map", f"{method}={name}"]
    for owner, glob in owners:
        words += ["--owner", f"{owner}={glob}"]
    if spec.stateful:
        words.append("--stateful")
    if spec.memory_limit is not None:
        words += ["--memory-limit", str(spec.memory_limit)]
    if quick:
        words.append("--quick")
    return shlex.join(words)
