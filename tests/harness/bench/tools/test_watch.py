"""How a process ended, in words."""

from __future__ import annotations

import pytest

from harness.bench.tools.watch import words


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (0, ""),
        (3, "exited with 3"),
        (-11, "crashed with SIGSEGV"),
        (139, "crashed with SIGSEGV"),
    ],
)
def test_a_returncode_in_words(status: int, said: str) -> None:
    assert words(status) == said
