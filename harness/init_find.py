"""Looks for backends in the sources of a project. Nothing is imported: they are only parsed."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from harness.names import METHODS

MOST_FILES = 5000
"""of a project that are read"""
LARGEST = 1 << 20
"""bytes of a file that is read: larger ones are generated"""

_WORDS = (b"execute", b"open_", b"infer", b"Infer")
"""What has none of them has no candidate, and need not be parsed."""
_NO_SOURCES = {"node_modules", "site-packages", "build", "dist", "tests", "test", "docs"}
_TESTS = re.compile(r"test_.*|.*_test|conftest|setup|noxfile")
_OPENS = re.compile(r"open_.+")
_INFERS = re.compile(r".*infer.*", re.IGNORECASE)
_FRAME = re.compile(r".*(frame|image|img).*|x", re.IGNORECASE)

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Kind(IntEnum):
    """What a candidate is, the surest first."""

    OPENS = 0
    """`open_...` that returns a backend of the same file, or a function in it"""
    BACKEND = 1
    """a class with all methods of the protocol"""
    INFERS = 2
    """a function or a class named `...infer...` that is called with one frame"""
    MAYBE = 3
    """`open_...` of which that is not known"""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One that may be a backend, or a factory of one."""

    kind: Kind
    file: Path
    """relative to the project"""
    line: int
    name: str
    needs: tuple[str, ...] = ()
    """arguments that a factory of it must be given"""


def find(project: Path) -> tuple[list[Candidate], list[Path]]:
    """Candidates, the surest first, and the files that were read."""
    files = list(_sources(project))
    trees = {path.relative_to(project): tree for path in files if (tree := _parsed(path))}
    # What opens a backend may lie in another file than its class.
    backends = {name for tree in trees.values() for name in _backends(_classes(tree))}
    found = [each for file, tree in trees.items() for each in _candidates(file, tree, backends)]
    return sorted(found, key=lambda each: (each.kind, each.file, each.line)), files


def best(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Those of the surest kind that need no arguments."""
    ready = [each for each in candidates if not each.needs]
    return [each for each in ready if each.kind == ready[0].kind]


def names_in(path: Path) -> set[str] | None:
    """Names that a file defines or imports at its top; None if it can't be parsed."""
    tree = _parsed(path, (b"",))
    if tree is None:
        return None
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, Function | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.ImportFrom | ast.Import):
            found |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return found


def _sources(project: Path) -> Iterator[Path]:
    count = 0
    for folder, folders, names in os.walk(project):
        inside = [
            name
            for name in sorted(folders)
            if not name.startswith((".", "_"))
            and name not in _NO_SOURCES
            and not (Path(folder, name) / "pyvenv.cfg").exists()
        ]
        folders[:] = inside
        for name in sorted(names):
            path = Path(folder, name)
            if path.suffix != ".py" or _TESTS.fullmatch(path.stem) or not path.is_file():
                continue
            if path.stat().st_size <= LARGEST:
                count += 1
                yield path
            if count >= MOST_FILES:
                return


def _parsed(path: Path, words: Sequence[bytes] = _WORDS) -> ast.Module | None:
    """A file that has one of the words in it; None for what no Python of ours could import."""
    try:
        text = path.read_bytes()
        return ast.parse(text) if any(word in text for word in words) else None
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None


def _classes(tree: ast.Module) -> dict[str, ast.ClassDef]:
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


def _backends(classes: dict[str, ast.ClassDef]) -> set[str]:
    """Those with all methods of the protocol."""
    return {
        name for name, node in classes.items() if set(METHODS) <= _methods(node, classes).keys()
    }


def _candidates(file: Path, tree: ast.Module, known: set[str]) -> Iterator[Candidate]:
    """Those in one file; `known` are the names of backends in all of them."""
    classes = _classes(tree)
    backends = _backends(classes)
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            methods = _methods(node, classes)
            needs = _needed(methods.get("__init__"))[1:] or _fields(node)
            if node.name in backends and not _abstract(node):
                yield Candidate(Kind.BACKEND, file, node.lineno, node.name, needs)
            elif _INFERS.fullmatch(node.name) and len(_needed(methods.get("__call__"))) == 2:
                yield Candidate(Kind.INFERS, file, node.lineno, node.name, needs)
        elif isinstance(node, Function) and not node.name.startswith("_"):
            needs = _needed(node)
            if _OPENS.fullmatch(node.name):
                kind = Kind.OPENS if _makes_one(node, known) else Kind.MAYBE
                yield Candidate(kind, file, node.lineno, node.name, needs)
            elif _INFERS.fullmatch(node.name) and len(needs) == 1 and _FRAME.fullmatch(needs[0]):
                yield Candidate(Kind.INFERS, file, node.lineno, node.name)


def _methods(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> dict[str, Function]:
    """Those of a class, and of its bases in the same file."""
    found: dict[str, Function] = {}
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id in classes and base.id != node.name:
            others = {name: each for name, each in classes.items() if name != node.name}
            found |= _methods(classes[base.id], others)
    return found | {each.name: each for each in node.body if isinstance(each, Function)}


def _abstract(node: ast.ClassDef) -> bool:
    """Whether it only says what a backend is."""
    names = {base.id for base in node.bases if isinstance(base, ast.Name)}
    names |= {base.attr for base in node.bases if isinstance(base, ast.Attribute)}
    return bool(names & {"Protocol", "ABC"})


def _fields(node: ast.ClassDef) -> tuple[str, ...]:
    """Fields without a default, where a decorator makes them arguments."""
    if not any("dataclass" in ast.unparse(each) for each in node.decorator_list):
        return ()
    return tuple(
        each.target.id
        for each in node.body
        if isinstance(each, ast.AnnAssign)
        and each.value is None
        and isinstance(each.target, ast.Name)
    )


def _needed(node: Function | None) -> tuple[str, ...]:
    """Arguments that must be given."""
    if node is None:
        return ()
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    needed = positional[: len(positional) - len(arguments.defaults)]
    by_name = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return tuple(each.arg for each in [*needed, *(a for a, value in by_name if value is None)])


def _makes_one(node: Function, backends: set[str]) -> bool:
    """Whether it returns or yields a backend of the file, or a function of a frame in it."""
    functions = {
        each.name
        for each in ast.walk(node)
        if isinstance(each, Function) and each is not node and len(_needed(each)) == 1
    }
    for each in ast.walk(node):
        made = each.value if isinstance(each, ast.Return | ast.Yield) else None
        if isinstance(made, ast.Call) and isinstance(made.func, ast.Name):
            if made.func.id in backends:
                return True
        elif isinstance(made, ast.Name) and made.id in functions:
            return True
    return False
