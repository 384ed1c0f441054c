"""teardown-resources on ledgers made by hand."""

from __future__ import annotations

from collections import Counter

import pytest

from harness.contract import Contract
from harness.result import RuleResult
from harness.rules import teardown_resources
from tests.harness.core.synthetic import Made

OWNED = Contract("zero-owned")


def told(result: RuleResult) -> tuple[str, int]:
    return result.status, result.measured


WORDS = {
    "threads": "thread",
    "descriptors": "file descriptor",
    "children": "child process",
    "mappings": "mapping",
    "shared_memory": "shared memory segment",
}


def _held(**more: list[str]) -> dict[str, object]:
    names = dict.fromkeys(teardown_resources.KINDS, ()) | {
        "threads": ["main"],
        "descriptors": ["/a", "/a"],
        **more,
    }
    return {
        kind: [{"name": name, "kind": WORDS[kind]} for name in held] for kind, held in names.items()
    }


def resources(*ledger: dict[str, object]) -> RuleResult:
    return teardown_resources.check(Made(1).timeline(ledger), OWNED)


def test_what_the_first_cycle_leaves_is_kept_for_all() -> None:
    later = _held(threads=["main", "pool"])
    assert told(resources(_held(), later, later, later)) == ("pass", 0)


def test_what_later_cycles_add_is_left_behind() -> None:
    result = resources(
        _held(),
        _held(threads=["main", "w"]),
        _held(threads=["main", "w", "w"]),
        _held(threads=["main", "w", "w", "w"], mappings=["/lib"]),
    )
    assert told(result) == ("fail", 3)
    texts = [finding.text for finding in result.findings]
    assert texts == [
        "2 threads left behind after 3 cycles: w",
        "1 mapping left behind after 3 cycles: /lib",
    ]


def test_equal_names_are_counted() -> None:
    assert told(resources(_held(), _held(), _held(descriptors=["/a"] * 3))) == ("fail", 1)
    assert told(resources(_held(), _held(), _held(descriptors=["/a"]))) == ("pass", 0)


def test_one_cycle_is_held_against_the_time_before() -> None:
    assert told(resources(_held(), _held(children=["sleep"]))) == ("fail", 1)
    assert told(resources(_held(), _held())) == ("pass", 0)


def test_without_the_end_of_a_cycle_nothing_is_known() -> None:
    assert told(resources()) == ("skipped", 0)
    assert told(resources(_held())) == ("skipped", 0)


@pytest.mark.parametrize("kind", teardown_resources.KINDS)
@pytest.mark.parametrize("count", [1, 2])
def test_words_for_each_kind(kind: str, count: int) -> None:
    before = _held()
    added = [{"name": "new", "kind": WORDS[kind]}] * count
    after = before | {kind: [*before[kind], *added]}  # type: ignore[misc]
    result = resources(before, before, after)
    assert Counter(told(result)) == Counter(("fail", count))
    assert result.findings[0].text.startswith(f"{count} ")


def _totals(*anonymous: int, executable: int = 0) -> list[dict[str, object]]:
    return [
        _held() | {"untraced_bytes": size, "executable_bytes": executable * n}
        for n, size in enumerate(anonymous)
    ]


def test_untraced_memory_counts_if_each_later_cycle_adds_the_same() -> None:
    result = resources(*_totals(0, 4096, 8192, 12288))
    assert told(result) == ("fail", 1)
    (finding,) = result.findings
    assert (finding.kind, finding.bytes) == ("anonymous-mapping", 8192)
    for totals in ((0, 4096, 4096, 8192), (0, 9, 8, 7), (0, 5, 5, 5), (0, 4096, 8192)):
        assert told(resources(*_totals(*totals))) == ("pass", 0)


def test_a_threads_stack_is_not_held_against_the_backend_twice() -> None:
    ledger = _totals(0, 4096, 8192, 12288)
    for number, held in enumerate(ledger):
        held["threads"] = [{"name": "w", "kind": "thread"}] * number
    (finding,) = resources(*ledger).findings
    assert (finding.kind, finding.count) == ("thread", 2)


def test_executable_memory_counts_by_its_bytes() -> None:
    (finding,) = resources(*_totals(0, 0, 0, 0, executable=4096)).findings
    assert (finding.kind, finding.bytes) == ("executable-mapping", 8192)
