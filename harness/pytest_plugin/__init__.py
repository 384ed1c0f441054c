"""The pytest plugin: hooks alone. Whatever measures is imported where it is first used.

    def test_mine(steady):
        steady.verify(open_mine, workload="128x128@25*20")

    @pytest.mark.steady(level="zero-growth")
    def test_mine():
        return open_mine()

`steady.no_allocations()` and `steady.released()` are blocks (see harness.block).
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.pytest_plugin import summary
from harness.pytest_plugin.steady import Steady

__all__ = ["Steady"]

_MARKER = "steady"
_HELP = (
    "steady(workload, **options): the test returns or yields a backend, or a factory of one, which "
    "is verified; options are those of harness.verify.verify"
)
_verifier = pytest.StashKey[Steady]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the plugin's options."""
    group = parser.getgroup("steadyframe")
    group.addoption(
        "--steady-report",
        type=Path,
        metavar="DIR",
        help="write a report of each verification, as JSON and as a page, into this folder",
    )
    group.addoption(
        "--steady-level",
        metavar="LEVEL",
        help="level of tests that name none; default: the project's, or zero-owned",
    )
    group.addoption(
        "--steady-baseline",
        type=Path,
        metavar="FILE",
        help="hold each verification against the exact counts that this file has of it",
    )
    group.addoption(
        "--steady-update-baseline",
        action="store_true",
        help="record these counts instead; without a FILE, in steady-baseline.json",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Say what the marker is, and read the baseline if one is asked for."""
    config.addinivalue_line("markers", _HELP)
    judge = None
    if config.getoption("--steady-baseline") or config.getoption("--steady-update-baseline"):
        from harness.pytest_plugin import baseline

        plugin = baseline.opened(config)
        config.pluginmanager.register(plugin, "steadyframe-baseline")
        judge = plugin.judge
    config.stash[_verifier] = Steady(config, judge)


def pytest_unconfigure() -> None:
    """End the helper processes, if any were started."""
    if zygotes := sys.modules.get("harness.zygotes"):
        zygotes.shutdown()


# Of the session's scope, as Hypothesis warns of a fixture that its examples share unawares.
@pytest.fixture(scope="session")
def steady(pytestconfig: pytest.Config) -> Steady:
    """Verifies backends, and gives blocks in which nothing may be allocated or left behind."""
    return pytestconfig.stash[_verifier]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """What is verified from now on is this test's."""
    item.config.stash[_verifier].begin(item)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, None, None]:
    """Blocks that the test has entered are left by now."""
    try:
        yield
    finally:
        item.config.stash[_verifier].end()


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, Any, Any]:
    """A block that a fixture of a wider scope enters may stay beyond the test."""
    verifier = request.config.stash[_verifier]
    before, verifier.wider = verifier.wider, fixturedef.scope != "function"
    try:
        return (yield)
    finally:
        verifier.wider = before


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, name: str, obj: object
) -> list[Any] | None:
    """Collect a marked test that yields its backend, which pytest itself refuses."""
    if not inspect.isgeneratorfunction(obj) or not collector.istestfunction(obj, name):
        return None
    marks = [*getattr(obj, "pytestmark", ()), *collector.iter_markers()]
    if not any(mark.name == _MARKER for mark in marks):
        return None
    # There is no public way from a function to its items, parametrised ones included.
    return list(collector._genfunctions(name, obj))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Verify what a marked test makes, instead of calling it here."""
    mark = pyfuncitem.get_closest_marker(_MARKER)
    if mark is None:
        return None
    __tracebackhide__ = True
    names = pyfuncitem._fixtureinfo.argnames
    arguments = {name: pyfuncitem.funcargs[name] for name in names}
    verifier = pyfuncitem.config.stash[_verifier]
    verifier.verify_test(pyfuncitem.obj, arguments, *mark.args, **mark.kwargs)
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let the test's report say what was verified, also to another process and in JUnit's XML."""
    if call.when == "call":
        item.user_properties.extend(item.config.stash[_verifier].properties())
    report = yield
    # pytest leaves them out where it shows no traceback; Hypothesis says in them what it drew.
    error = call.excinfo.value if call.excinfo is not None else None
    if getattr(error, "pytrace", True) is False and (notes := getattr(error, "__notes__", None)):
        report.sections.append(("notes", "\n".join(notes)))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the section."""
    reports: Iterator[Any] = (
        report for reports in terminalreporter.stats.values() for report in reports
    )
    lines = summary.lines(reports, verbose=terminalreporter.verbosity > 0)
    if lines:
        terminalreporter.section("steadyframe")
        for line in lines:
            terminalreporter.write_line(line)
