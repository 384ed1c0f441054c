"""The fixture: what a test asks, in the words of harness.verify and harness.block."""

from __future__ import annotations

import functools
import hashlib
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from harness.errors import UsageError
from harness.pytest_plugin import summary

if TYPE_CHECKING:
    from harness.block import Block
    from harness.gate.results import CaseResult
    from harness.result import Failure, Level, Report
    from harness.workload import Workload

_LONGEST_NAME = 120
"""characters of a test's name that become that of its report"""


class Steady:
    """Verifies for the test that is run."""

    def __init__(
        self,
        config: pytest.Config,
        judge: Callable[[str, str, Report], CaseResult] | None = None,
    ) -> None:
        self._config = config
        self._judge = judge
        """holds the verification of this name, test and report against the baseline"""
        self._nodeid = ""
        self._drawn = False
        self._reports: list[Report] = []
        self._compared: list[CaseResult | None] = []
        self._open: list[Block] = []
        """blocks of the test and of what is set up for it alone, until they are left"""
        self.wider = False
        """whether something is being set up that other tests use, too"""

    def begin(self, item: pytest.Item) -> None:
        """Another test is run from now on."""
        self._nodeid = item.nodeid
        self._drawn = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
        self._reports, self._compared = [], []

    def verify(
        self,
        factory: str | Callable[..., Any],
        workload: Workload | str | None = None,
        **options: Any,
    ) -> Report:
        """The report, if the contract holds; fails the test if it doesn't, or can't be measured.

        `options` are those of `harness.verify.verify`. What they leave open is as the project's
        `[tool.steadyframe]` says, and the level as `--steady-level` does.
        """
        __tracebackhide__ = True
        with _said_in_one_line():
            report = self._verified(factory, workload, options)
        if (failure := report.failure) and _is_skip(failure):
            pytest.skip(failure.message)
        self._tell([report])
        self._compare(report)
        return report

    def verify_test(
        self,
        test: Callable[..., Any],
        arguments: Mapping[str, Any],
        workload: Workload | str | None = None,
        **options: Any,
    ) -> Report:
        """Verify what a test function returns or yields, for each cycle anew."""
        __tracebackhide__ = True
        factory = functools.partial(test, **arguments) if arguments else test
        return self.verify(factory, workload, **options)

    def no_allocations(
        self,
        *,
        level: Level = "zero-owned",
        warmup: Callable[[], object] | None = None,
        owners: Sequence[tuple[str, str]] = (),
    ) -> AbstractContextManager[None]:
        """A block that fails the test if anything is allocated in it (see harness.block)."""
        __tracebackhide__ = True
        from harness import block

        with _said_in_one_line():
            made = block.no_allocations(level=level, warmup=warmup, owners=owners, tell=self._tell)
        return _Hidden(made, self._among())

    def released(
        self,
        *,
        warmup: Callable[[], object] | None = None,
        owners: Sequence[tuple[str, str]] = (),
    ) -> AbstractContextManager[None]:
        """A block that fails the test if anything made in it is left (see harness.block)."""
        __tracebackhide__ = True
        from harness import block

        with _said_in_one_line():
            made = block.released(warmup=warmup, owners=owners, tell=self._tell)
        return _Hidden(made, self._among())

    def end(self) -> None:
        """The test and what was set up for it alone is over: so must its blocks be.

        One that isn't would take those of later tests for its own, which then pass unjudged.
        """
        __tracebackhide__ = True
        if left := [block.abandon() for block in reversed(self._open)]:
            self._open.clear()
            _fail(f"steadyframe: the block of {left[-1]} was never left: use it in a `with`")

    def _among(self) -> list[Block]:
        """Where a block is kept while it is open."""
        return [] if self.wider else self._open

    def properties(self) -> Iterator[tuple[str, str]]:
        """What the test's report is to say."""
        yield from summary.properties(self._reports)
        yield from summary.compared(self._compared)

    def _verified(
        self, factory: Any, workload: Workload | str | None, options: Mapping[str, Any]
    ) -> Report:
        from harness import config, given
        from harness.verify import verify

        asked = config.load(self._config.rootpath).arguments()
        if level := self._config.getoption("--steady-level"):
            asked["level"] = given.level(level)
        owners = (*given.owners(options.get("owners", ())), *asked.pop("owners", ()))
        return verify(
            factory, workload, **{**asked, **options, "owners": owners, "again": self._again()}
        )

    def _again(self) -> str:
        return shlex.join(["pytest", self._nodeid])

    def _tell(self, reports: Sequence[Report]) -> None:
        """Keep the reports, and fail if one of them is not in order."""
        __tracebackhide__ = True
        from harness.report.brief import brief

        for report in reports:
            if not report.replay.startswith("steadyframe "):
                report.replay = self._again()
            self._reports.append(report)
            with _said_in_one_line():
                self._write(report)
        if failed := [report for report in reports if report.verdict != "pass"]:
            _fail("\n\n".join(brief(report) for report in failed))

    def _compare(self, report: Report) -> None:
        """Hold a verification against the baseline, and fail if it isn't as good."""
        __tracebackhide__ = True
        if self._judge is None:
            return
        from harness.gate.results import EXIT

        # What is drawn anew each time is another workload each time: there is nothing to hold.
        result = None if self._drawn else self._judge(self._name(), self._nodeid, report)
        self._compared.append(result)
        if result is not None and EXIT[result.status]:
            from harness.pytest_plugin.baseline import failure

            _fail(failure(result))

    def _write(self, report: Report) -> None:
        """The report as JSON and as a page, in the folder that was asked for."""
        folder: Path | None = self._config.getoption("--steady-report")
        if folder is None:
            return
        from harness.report import files, pages
        from harness.report.html import case_page
        from harness.report.json import to_json

        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"--steady-report {folder}: {error.strerror}") from None
        name = self._name()
        files.write(folder / f"{name}.json", to_json(report))
        files.write(folder / f"{name}.html", case_page(name, report))
        pages.write_script(folder)

    def _name(self) -> str:
        """The test's, such that no two have the same, and numbered from its second report on."""
        nodeid = self._nodeid
        name = re.sub(r"[^\w.=+-]+", "-", nodeid, flags=re.ASCII).strip("-")[:_LONGEST_NAME]
        digest = hashlib.sha256(nodeid.encode()).hexdigest()[:6]
        number = f"-{len(self._reports)}" if len(self._reports) > 1 else ""
        return f"{name}-{digest}{number}"


class _Hidden:
    """A block whose bad usage fails the test in one line."""

    def __init__(self, block: Block, among: list[Block]) -> None:
        self._block = block
        self._among = among

    def __enter__(self) -> None:
        __tracebackhide__ = True
        with _said_in_one_line():
            self._block.__enter__()
        self._among.append(self._block)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        __tracebackhide__ = True
        if self._block in self._among:
            self._among.remove(self._block)
        self._block.__exit__(kind, error, at)


def _is_skip(failure: Failure) -> bool:
    """Whether a factory, or a marked test, called pytest.skip before anything was measured."""
    from harness.flight import full_name

    at_first = (failure.phase, failure.cycle) == ("open", 1)
    return at_first and failure.exception == full_name(pytest.skip.Exception)


@contextmanager
def _said_in_one_line() -> Iterator[None]:
    __tracebackhide__ = True
    try:
        yield
    except UsageError as error:
        usage = f"steadyframe: {error}"
    else:
        return
    _fail(usage)


def _fail(text: str) -> NoReturn:
    __tracebackhide__ = True
    raise pytest.fail.Exception(text, pytrace=False) from None
