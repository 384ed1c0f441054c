"""What commands write besides the JSON and the pages: for reviews, test reports and CI."""

from __future__ import annotations

import argparse
import os
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.commands.kinds import file

if TYPE_CHECKING:
    from harness.result import Report

SUMMARY = "GITHUB_STEP_SUMMARY"
"""variable that names the file to which a CI job's summary is added"""


def add_outputs(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("--markdown", type=file, metavar="FILE", help="write a summary, as for a pull request")
    add("--junit", type=file, metavar="FILE", help="write JUnit XML: a test for each rule")
    add("--sarif", type=file, metavar="FILE", help="write SARIF: findings at their lines")


def check_outputs(options: Namespace) -> None:
    """Raise a UsageError if one of them could not be written, before anything is measured."""
    from harness.report.files import check_writable

    for path in (options.markdown, options.junit, options.sarif, _summary()):
        if path is not None:
            check_writable(path)


def check_report_files(options: Namespace) -> bool:
    """The same for --json and --html; whether the JSON goes to standard output."""
    from harness.report.files import check_writable

    to_stdout: bool = options.json == Path("-")
    for path in (None if to_stdout else options.json, options.html):
        if path is not None:
            check_writable(path)
    if options.html is not None:
        from harness.report.pages import plotly_script

        plotly_script()  # said at once if it is not there
    return to_stdout


def write_outputs(options: Namespace, cases: Sequence[tuple[str, Report]]) -> None:
    """Write those that were asked for, of reports and the names of their cases."""
    if options.markdown is not None or _summary() is not None:
        from harness.report.markdown import to_markdown

        write_markdown(options, to_markdown(cases))
    write_reports(options, cases)


def write_reports(options: Namespace, cases: Sequence[tuple[str, Report]]) -> None:
    """Write those that other programs read."""
    from harness.report.files import write

    if options.junit is not None:
        from harness.report.junit import to_junit

        write(options.junit, to_junit(cases))
    if options.sarif is not None:
        from harness.report.sarif import to_sarif

        write(options.sarif, to_sarif(cases, Path.cwd()))


def write_markdown(options: Namespace, text: str) -> None:
    """Write Markdown to its file, and to the summary of the CI job if there is one."""
    from harness.report.files import append, write

    if options.markdown is not None:
        write(options.markdown, text)
    if (summary := _summary()) is not None:
        append(summary, text)


def _summary() -> Path | None:
    name = os.environ.get(SUMMARY)
    return Path(name) if name else None
