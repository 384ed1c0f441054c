"""A test's verifications, held against exact counts that were recorded of them, or recorded.

The case is the test: it bears the name of the test's report, and its target is the test's id.

What is measured goes with the report of its test: so it reaches the controller of pytest-xdist,
which alone writes, even if the worker crashes later or -x ends the session.
"""

from __future__ import annotations

import shlex
from collections.abc import Generator
from pathlib import Path

import msgspec
import pytest

from harness import baseline
from harness.baseline import Baseline
from harness.errors import UsageError
from harness.gate.case import Case
from harness.gate.compare import hold
from harness.gate.counts import Amount, Counts, counts
from harness.gate.fingerprint import Fingerprint, fingerprint
from harness.gate.results import CaseResult
from harness.inherited import UNPINNED
from harness.report.files import check_writable, locked
from harness.report.gate import MEANING, lines
from harness.report.text import clean
from harness.result import Report
from harness.sites import FIRST_USE, HELD
from harness.words import plural

DEFAULT = "steady-baseline.json"
"""in the root folder"""
_HANDED_OVER = "steadyframe_counts"
"""attribute of a test's report: all that was measured, as JSON"""


class Measured(msgspec.Struct, frozen=True):
    """What is recorded of one verification."""

    case: Case
    environment: Fingerprint
    counts: Counts


class Held:
    """Holds verifications against the baseline in a file."""

    def __init__(self, path: Path, root: Path, known: Baseline) -> None:
        self._path = path
        self._root = root
        self._known = known

    def judge(self, name: str, nodeid: str, report: Report) -> CaseResult:
        """Compare a verification that passed."""
        one = _measured(name, nodeid, report, self._root)
        result, _ = hold(self._known, one.case, report, one.counts, one.environment, self._root)
        if result.status == "same":
            return result
        command = _record(self._path, self._root, nodeid)
        if result.status == "worse":
            command = result.command
            if not command.startswith("steadyframe "):  # the test itself, then held again
                command = shlex.join(["pytest", nodeid, *_option(self._path, self._root)])
        return msgspec.structs.replace(result, command=command)


class Recorder:
    """A plugin that records verifications. Of each test that passes all are replaced."""

    def __init__(self, path: Path, root: Path, *, writes: bool) -> None:
        self._path = path
        self._root = root
        self._writes = writes
        self._measured: list[Measured] = []
        self._passed: dict[str, list[Measured]] = {}
        """by test"""

    def judge(self, name: str, nodeid: str, report: Report) -> CaseResult:
        """Keep what was measured of a verification that passed, until its test has passed."""
        one = _measured(name, nodeid, report, self._root)
        self._measured.append(one)
        return CaseResult(name, "recorded", holds=one.counts.holds)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Let what was measured go with the report, perhaps to another process."""
        report = yield
        if call.when == "call":
            setattr(report, _HANDED_OVER, msgspec.json.encode(self._measured).decode())
            self._measured = []
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take over what was measured of a test that passed."""
        if self._writes and report.passed and (text := getattr(report, _HANDED_OVER, None)):
            self._passed[report.nodeid] = msgspec.json.decode(text, type=list[Measured])

    def pytest_sessionfinish(self) -> None:
        """Write. What other sessions have recorded meanwhile stays. Raises pytest.UsageError."""
        if not self._passed:
            return
        try:
            with locked(self._path.parent):
                old = _load(self._path, self._root) or Baseline()
                kept = {
                    name for name, one in old.cases.items() if one.case.target not in self._passed
                }
                measured = [
                    (one.case, one.environment, one.counts)
                    for ones in self._passed.values()
                    for one in ones
                ]
                if not measured and kept == set(old.cases):
                    return
                names = kept | {case.name for case, _, _ in measured}
                baseline.save(self._path, baseline.updated(old, measured, names))
        except UsageError as error:
            raise pytest.UsageError(f"steadyframe: {error}") from None

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what was recorded."""
        tests = [ones for ones in self._passed.values() if ones]
        number = plural(sum(map(len, tests)), "verification")
        terminalreporter.write_line(
            f"steadyframe: recorded {number} of {plural(len(tests), 'test')} that passed in "
            f"{clean(_shown(self._path, self._root))}"
        )


def opened(config: pytest.Config) -> Held | Recorder:
    """What the options ask for. Raises pytest.UsageError for a file that is no baseline."""
    given: Path | None = config.getoption("--steady-baseline")
    root = config.rootpath
    path = config.invocation_params.dir / given if given else root / DEFAULT
    writes = not hasattr(config, "workerinput")
    update: bool = config.getoption("--steady-update-baseline")
    try:
        if update and writes:
            check_writable(path)
        # Known before anything is measured, though others may add to it until it is written.
        known = _load(path, root)
        if known is None and not update:
            raise UsageError(f"there is no file {path}: record it, {_record(path, root)}")
    except UsageError as error:
        raise pytest.UsageError(f"steadyframe: {clean(str(error))}") from None
    if known is None or update:
        return Recorder(path, root, writes=writes)
    return Held(path, root, known)


def failure(result: CaseResult) -> str:
    """What a test fails with, in the words of the gate."""
    return "\n".join((f"{clean(result.name)}: {MEANING[result.status]}", *lines(result, "")))


def _measured(name: str, nodeid: str, report: Report, root: Path) -> Measured:
    case = Case(
        name,
        nodeid,
        report.workload or None,
        level=report.level,
        cycles=report.cycles,
        seed=report.seed,
    )
    found = counts(report, root)
    if report.environment["allocator"] == UNPINNED:
        found = _of_a_fork(found, report.cycles)
    return Measured(case, fingerprint(report.environment), found)


def _of_a_fork(found: Counts, cycles: int) -> Counts:
    """Without what depends on the tests that ran before in the process that was forked.

    What that process has made once, such as a cache or a table that a library fills at its first
    use, the fork has inherited, and so does not make again. Steady steps, the growth of any but
    the first cycle, leaks and resources don't depend on it.
    """
    once = (FIRST_USE, HELD)
    return msgspec.structs.replace(
        found,
        growth_events=0,
        growth=found.growth if cycles > 1 else Amount(),
        held={},
        first_use={},
        sites=tuple(site for site in found.sites if site.kind not in once),
    )


def _load(path: Path, root: Path) -> Baseline | None:
    return baseline.load(path, _record(path, root))


def _record(path: Path, root: Path, *tests: str) -> str:
    option = [] if path == root / DEFAULT else _option(path, root)
    return shlex.join(["pytest", *tests, "--steady-update-baseline", *option])


def _option(path: Path, root: Path) -> list[str]:
    return ["--steady-baseline", _shown(path, root)]


def _shown(path: Path, root: Path) -> str:
    return str(path.relative_to(root) if path.is_relative_to(root) else path)
