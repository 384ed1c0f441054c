"""How a planted fault is declared, and a case that looks like one and is none."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from backend.protocol import Factory, FrameFunction

Openable: TypeAlias = Factory | FrameFunction

MARK = "# <- fault"
"""ends the line that must be named"""
ALSO = "# <- fault too"
"""ends a line that may be named besides: another part of the same fault"""
NO_VERDICT = "no-verdict"
"""in the place of a rule: the backend crashes or hangs, and that must be said"""


@dataclass(frozen=True, kw_only=True)
class Case:
    """A backend, and the smallest workload that shows what is to be seen of it."""

    about: str
    """what is, or only seems to be, wrong with it"""
    workload: str = "64x64@25*24"
    level: str = "zero-owned"
    cycles: int = 3
    options: Mapping[str, Any] = field(default_factory=dict)
    """keyword arguments of the factories"""
    stateful: bool = False
    timeout: float | None = None
    """seconds without progress after which it counts as hung; None is the detector's own"""

    @property
    def name(self) -> str:
        """The name of its module, as a word."""
        return self._factory.__module__.rpartition(".")[2].replace("_", "-")

    @property
    def _factory(self) -> Openable:
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Fault(Case):
    """A fault on purpose, what must be said of it, and the same code repaired."""

    rule: str
    """id of the rule that must fail, or NO_VERDICT"""
    kind: str
    """of the finding, or of the failure where there is no verdict"""
    phase: str = ""
    """where there is no verdict: the call in which the backend was then"""
    faulty: Openable
    repaired: Openable
    """its green twin: nothing may be said of it"""
    quick: bool = True
    """seen in the traced run alone"""

    @property
    def _factory(self) -> Openable:
        return self.faulty

    @property
    def file(self) -> str:
        """The source file that it is in."""
        path = sys.modules[self.faulty.__module__].__file__
        assert path is not None
        return path

    @property
    def line(self) -> int:
        """The number of the line that must be named, from the source; 0 if no line can be.

        Raises ValueError if more than one is marked.
        """
        marked = self._marked(MARK)
        if len(marked) > 1:
            raise ValueError(f"{self.file}: lines {marked} are marked, and one must be named")
        return marked[0] if marked else 0

    @property
    def also(self) -> tuple[int, ...]:
        """The numbers of the lines that may be named besides."""
        return self._marked(ALSO)

    def _marked(self, mark: str) -> tuple[int, ...]:
        lines = Path(self.file).read_text().splitlines()
        return tuple(number for number, line in enumerate(lines, 1) if line.endswith(mark))


@dataclass(frozen=True, kw_only=True)
class Green(Case):
    """A backend that looks suspicious and is right: nothing may be said of it."""

    backend: Openable

    @property
    def _factory(self) -> Openable:
        return self.backend
