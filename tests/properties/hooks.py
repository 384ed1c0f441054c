"""What pytest does for the property tests: shares the time among them, and sums up what they ran.

Under xdist the tests run in workers, and the sum is made where their reports arrive: so the counts
travel as properties of each test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from typing import Any

import pytest

from tests.properties import rounds

KINDS = (rounds.LAWS, rounds.TRACED, rounds.PROGRAMS)


def is_property(item: pytest.Item) -> bool:
    return hasattr(getattr(item, "obj", None), "in_rounds")


def pytest_configure() -> None:
    rounds.limit()  # a mistake is said before anything runs


def pytest_collection_finish(session: pytest.Session) -> None:
    rounds.share_among(sum(is_property(item) for item in session.items))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    rounds.ran.clear()
    try:
        return (yield)
    finally:
        if is_property(item):
            item.user_properties += rounds.ran.items()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    total: Counter[str] = Counter()
    lines = []
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", "") != "call":
                continue
            ran = {kind: n for kind, n in report.user_properties if kind in KINDS}
            total.update(ran)
            lines += [f"{report.nodeid}: {said(ran)}"] if ran else []
    if not total:
        return
    terminalreporter.section("generated")
    if rounds.limit() or terminalreporter.verbosity > 0:
        for line in sorted(lines):
            terminalreporter.line(line)
    terminalreporter.line(said(total))


def said(ran: dict[str, int]) -> str:
    return ", ".join(f"{ran[kind]:,} {kind}" for kind in KINDS if kind in ran)
