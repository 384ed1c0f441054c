"""What a failing property says: the workload, its replay, each finding, where the report is."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from harness.least import least
from harness.report.json import to_json
from harness.result import Report
from harness.verify import verify
from harness.workload import Workload
from tests.properties.rounds import LAWS, ran

REPORTS = Path(__file__).parents[2] / "reports" / "properties"


def save(report: Report, name: str) -> Path:
    """Write a report; the shrunk example is tried last, so that its report is what stays."""
    REPORTS.mkdir(parents=True, exist_ok=True)
    path = REPORTS / f"{name}.json"
    path.write_text(to_json(report))
    return path


def require_pass(report: Report, name: str) -> None:
    """Raise AssertionError unless every rule is fulfilled."""
    failed = [rule for rule in report.rules if rule.status == "fail"]
    if report.failure is None and not failed:
        return
    lines = [f"{report.target} fails on {report.workload}", f"  replay: {report.replay}"]
    if report.failure is not None:
        lines.append(f"  {report.failure.kind}: {report.failure.text}")
    for rule in failed:
        lines += [f"  {rule.rule}: {finding.text}" for finding in rule.findings] or [
            f"  {rule.rule}: {rule.measured} measured, {rule.limit} allowed ({rule.why})"
        ]
    lines += [f"  note: {note}" for note in report.notes]
    raise AssertionError("\n".join([*lines, f"  report: {save(report, name)}"]))


@dataclass(frozen=True)
class Subject:
    """What a law is held against: in this process, and as `steadyframe verify` knows it."""

    target: str
    factory: Callable[..., Any]
    options: Mapping[str, Any]

    @property
    def opener(self) -> Callable[[], Any]:
        """Opens it here."""
        return partial(self.factory, **self.options)


class BrokenLawError(AssertionError):
    """A law does not hold for a workload."""

    def __init__(
        self,
        law: str,
        said: str,
        subject: Subject,
        workload: Workload,
        breaks: Callable[[Workload], bool] | None = None,
    ) -> None:
        """`breaks` says whether another workload breaks the law too, if that alone decides it."""
        words = ["steadyframe", "verify", subject.target, "--workload", str(workload)]
        for name, value in subject.options.items():
            words += ["--arg", f"{name}={value}"]
        super().__init__(f"{said}\n  on {workload}\n  replay: {shlex.join(words)}")
        self.law, self.subject, self.workload = law, subject, workload
        self._breaks = breaks

    def least(self) -> Workload:
        """The least workload that breaks the law, as far as it can be told without Hypothesis.

        Whose shrinking takes one step at a time, and so may stop short of it: two sizes that are
        each other's turn, say, become smaller together or not at all.
        """
        return least(self.workload, self._breaks)[0] if self._breaks else self.workload


def hold(law: Callable[..., None], subject: Subject, workload: Workload, *more: Any) -> None:
    """Require a law of a workload, and count it. Raises BrokenLawError."""
    try:
        law(subject.opener, workload, *more)
    except Exception as error:
        said = str(error) if isinstance(error, AssertionError) else repr(error)
        breaks = None if more else partial(_breaks, law, subject)
        raise BrokenLawError(law.__name__, said, subject, workload, breaks) from error
    ran[LAWS] += 1


def _breaks(law: Callable[..., None], subject: Subject, workload: Workload) -> bool:
    try:
        law(subject.opener, workload)
    except Exception:
        return True
    return False


@contextmanager
def verified() -> Iterator[None]:
    """Have `verify` look at the workload that broke a law, once it is shrunk, and say what it saw.

    Not for each one on the way there: to verify takes seconds.
    """
    try:
        yield
    except BaseException as error:
        for broken in _laws_broken(error):
            subject, workload = broken.subject, broken.least()
            if workload != broken.workload:
                broken.add_note(f"the least workload that breaks it is {workload}")
            report = verify(subject.target, workload, options=subject.options)
            if report.verdict == "pass":
                broken.add_note("verify passes on it: only the law, in this process, shows it")
            else:
                path = save(report, f"law-{broken.law}")
                broken.add_note(f"verify ends with {report.verdict}, too; report: {path}")
        raise


def _laws_broken(error: BaseException) -> Iterator[BrokenLawError]:
    """Hypothesis raises a group where examples fail in several ways."""
    if isinstance(error, BrokenLawError):
        yield error
    elif isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _laws_broken(one)
