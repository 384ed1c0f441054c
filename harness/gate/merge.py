"""The results of all shards of a gate, put together."""

from __future__ import annotations

from pathlib import Path

from harness.errors import UsageError
from harness.gate.results import FILE, GateResult, decode


def merge(folder: Path) -> GateResult:
    """Read each shard's gate.json below `folder`. Raises UsageError if one is missing or damaged.

    A shard that broke off has left none, so that what it would have found can't be missed.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder: give the one with the --output of all shards")
    shards: dict[int, GateResult] = {}
    parts = 0
    for path in sorted(folder.rglob(FILE)):
        try:
            result = decode(path.read_bytes())
        except OSError as error:
            raise UsageError(f"{path} can't be read ({error.strerror})") from None
        except UsageError as error:
            raise UsageError(f"{path}: {error}") from None
        number, of = result.shard
        if number in shards or parts not in (0, of):
            raise UsageError(f"{path}: shard {number} of {of} does not go with the others: "
                             "keep those of one run in a folder of their own")  # fmt: skip
        shards[number], parts = result, of
    if not shards:
        raise UsageError(f"there is no {FILE} below {folder}: run `steadyframe gate --output DIR`")
    if absent := sorted(set(range(1, parts + 1)) - set(shards)):
        raise UsageError(
            f"shard {absent[0]} of {parts} is missing below {folder}: did it break off?"
        )
    first = shards[1]
    results = tuple(case for number in sorted(shards) for case in shards[number].results)
    return GateResult(results, any(s.strict for s in shards.values()), (1, 1), first.baseline)
