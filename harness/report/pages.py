"""Web pages: text in templates, everything escaped, nothing fetched.

A page may run the scripts that it was written with and no other, and reach no network: its content
security policy names each by its hash. So a text that slipped through would still do nothing.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from harness.errors import SETUP, UsageError
from harness.report import text
from harness.report.files import write
from harness.words import plural

SCRIPT = "plotly.min.js"
"""what draws the plots: one file for all pages of a folder"""
_TEMPLATES = Path(__file__).parent / "templates"


def page(template: str, *, embed: bool = False, **values: Any) -> str:
    """A page from a template. The script is beside it in the same folder, or in it (`embed`)."""
    own = _asset("page.js")
    plotly = plotly_script() if embed else None
    return (
        _environment()
        .get_template(template)
        .render(
            values,
            style=Markup(_asset("style.css")),  # noqa: S704 - our own files
            script=Markup(own),  # noqa: S704
            plotly=Markup(plotly) if plotly is not None else None,  # noqa: S704
            policy=_policy(own, plotly),
            script_file=SCRIPT,
        )
    )


def write_script(folder: Path) -> None:
    """Put the script beside the pages, unless the same one is there."""
    path, script = folder / SCRIPT, plotly_script()
    if not path.is_file() or path.read_bytes() != script.encode():
        write(path, script)


def plotly_script() -> str:
    """The script that the plotly package bundles; its Python is not imported. Raises UsageError."""
    spec = find_spec("plotly")
    if spec is None or spec.origin is None:
        raise UsageError(f"plotly is not installed, whose script draws the plots: {SETUP}")
    path = Path(spec.origin).parent / "package_data" / SCRIPT
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"this copy of plotly lacks {path} ({error.strerror}): install it anew with pip"
        ) from error


def _policy(*scripts: str | None) -> str:
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in scripts
        if script is not None
    )
    # A page opened from a file has no origin that 'self' could name in every browser.
    return (
        f"default-src 'none'; script-src 'self' file: {hashes}; "
        "style-src 'unsafe-inline'; img-src data: blob:"
    )


@cache
def _asset(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_safe,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Callable[..., Any]] = {
        "plural": plural,
        "ranges": text.ranges,
        "clean": text.clean,
    }
    environment.filters |= filters
    return environment


def _safe(value: object) -> object:
    """What is put in: no control characters, nothing that cannot be encoded, as on a terminal."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return text.clean(value)
    return value
