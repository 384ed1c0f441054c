"""Which functions of native code an allocation went through, on its way from the line of Python."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from harness.result import StackFrame

MOST_FUNCTIONS = 4
_LONGEST = 60
_UNKNOWN = "<unknown>"
# CPython's own sources, as its debug information names them: above these, a line of Python called.
_INTERPRETER_FILES = ("Objects/", "Python/", "Modules/", "./Include/")
_INTERPRETER_NAMES = ("_PyEval_", "_PyObject_", "PyObject_", "_Py_", "cfunction_", "PyEval_")
# They ask for memory on somebody's behalf, as every allocation does.
_ALLOCATOR = re.compile(r"\w*(malloc|calloc|realloc|memalign|aligned_alloc)\w*|operator new.*")
_CYTHON = re.compile(r"__pyx_(?:pf|pw|f|tp_new)_(?=\d)")


def path(native_stack: Sequence[StackFrame]) -> str:
    """Names of functions, with their lines where known, innermost first, joined by ` < `.

    Up to the interpreter, whose next line of Python is known. A function without a symbol is left
    out: stripped libraries have symbols for what they export.
    """
    names: list[str] = []
    for function, file, line in native_stack:
        if file.startswith(_INTERPRETER_FILES) or function.startswith(_INTERPRETER_NAMES):
            break
        name = _short(function)
        if function == _UNKNOWN or _ALLOCATOR.fullmatch(name):
            continue
        if line and not function.startswith("__pyx_"):  # of Cython's C nobody knows the lines
            name += f" ({Path(file).name}:{line})"
        if [name] != names[-1:]:
            names.append(name)
    return " < ".join(names[:MOST_FUNCTIONS])


def _short(function: str) -> str:
    """Without the arguments of C++, in Cython's case as in its source, and not too long."""
    name = _of_cython(function) or function.partition("(")[0] or function
    return name if len(name) <= _LONGEST else name[: _LONGEST - 3] + "..."


def _of_cython(function: str) -> str:
    """`av.filter.graph.Graph.pull` for `__pyx_pw_2av_6filter_5graph_5Graph_11pull`; else empty.

    Each part of the name has its length before it; the last one's number is that of the function.
    """
    prefix = _CYTHON.match(function)
    rest = function[prefix.end() :] if prefix else ""
    parts: list[str] = []
    while match := re.match(r"(\d+)(?=\D)", rest):
        start, length = match.end(), int(match[1])
        if rest[start + length : start + length + 1] == "_":
            parts.append(rest[start : start + length])
            rest = rest[start + length + 1 :]
        else:
            rest = rest[start:]
            break
    return ".".join([*parts, rest.lstrip("_")]) if parts else ""
