"""Every rule, and every kind of finding that a rule can make, has words that explain it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from harness import error_evidence, naming, outputs
from harness.report.advice import advice, known
from harness.rules import RULES

RULE_FILES = sorted((Path(__file__).parents[3] / "harness/rules").glob("*.py"))
RESOURCES = {
    "thread", "file descriptor", "memfd", "child process", "executable mapping", "memfd mapping",
    "mapped file", "shared memory segment",
}  # fmt: skip
"""the kinds that harness.probes.resources gives to what is held"""


def kinds_in_rules() -> Iterator[str]:
    """What the source of the rules calls a kind: the first of a Meaning, or the argument."""
    for path in RULE_FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Tuple) and len(node.elts) == 2:
                first, second = node.elts
                words = isinstance(second, (ast.JoinedStr, ast.Constant, ast.Name))
                if words and is_kind(first):
                    yield first.value
            if isinstance(node, ast.keyword) and node.arg == "kind":
                yield from (n.value for n in ast.walk(node.value) if is_kind(n))


def is_kind(node: ast.AST) -> bool:
    """Whether it is a constant that looks like one; `-` in a call of replace() is none."""
    return isinstance(node, ast.Constant) and re.fullmatch("[a-z]+(-[a-z]+)*", str(node.value))


def test_every_rule_is_explained() -> None:
    rules, _ = known()
    assert set(RULES) <= rules


def test_every_kind_is_explained() -> None:
    _, kinds = known()
    made = set(kinds_in_rules())
    assert {"leak-per-frame", "leak-per-cycle", "leak-per-error", "regrowth"} <= made
    made |= {*get_args(outputs.Kind), *get_args(error_evidence.Kind), *naming._KINDS.values()}
    made |= {kind.replace(" ", "-") for kind in RESOURCES}
    made |= {"churn", "turnover", "kept", "late"}
    assert made - kinds == set()


def test_resources_are_those_that_the_probe_names() -> None:
    source = (RULE_FILES[0].parents[1] / "probes/resources.py").read_text()
    named = {kind for kind in RESOURCES if f'"{kind}"' in source}
    assert named == RESOURCES


@pytest.mark.parametrize("kind", sorted(known()[1]))
def test_words_are_sentences(kind: str) -> None:
    told = advice("", kind)
    assert len(told.title) < 50
    assert not told.title.endswith(".")
    assert told.why.endswith(".")
    assert told.remedy.endswith(".")


def test_unknown_kind_has_its_rules_words_and_an_unknown_rule_some() -> None:
    assert advice("grow-only", "new-kind") == advice("grow-only")
    assert advice("new-rule").title
