"""Whose allocation is it? Decided by the Python stack, and for the interpreter by native symbols.

An ordered list of (owner, glob) is matched against each frame, as `file` or `file:function`. From
the outermost frame inwards, each frame that matches takes the allocation over, so that the
innermost match decides, with one exception: what lies below a model's forward call stays the
model's, whoever wrote the lines of that forward.
"""

from __future__ import annotations

import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from glob import escape
from pathlib import Path

from harness.probes.listed import HELD, LARGEST
from harness.result import StackFrame

HARNESS = "harness"
SOURCE = "source"
BACKEND = "backend"
MODEL = "model"
INTERPRETER = "interpreter"
RUNTIME = "runtime"
OWN = frozenset({HARNESS, SOURCE})
"""Owners that belong to the measurement and are subtracted from what is reported."""

_TRANSPARENT = ""
_LIBRARIES = ("purelib", "platlib", "stdlib", "platstdlib")
_PACKAGE = str(Path(__file__).parent)

# CPython and libc allocate these on their own account, at whatever line happens to run.
_INTERPRETER_SYMBOLS = (
    # a table of line numbers, once per code object, when a tracer such as memray is on
    "_PyCode_CreateLineArray",
    # the next chunk of a thread's stack of Python frames
    "allocate_chunk",
    "push_chunk",
    # the same for frames that were turned into objects and for the tables of live threads
    "_PyThreadState_PushFrame",
    # glibc's note, once per thread and variable, that a thread-local of some library has a
    # destructor: which step a pool's thread first works on is up to the scheduler
    "__cxa_thread_atexit_impl",
)
# pymalloc's arenas: 1 MiB for some thousand small objects of anybody. Whether a run needs one more
# is up to what its process was forked with, so that they are nobody's: the objects are counted.
_ARENA_SYMBOLS = ("_PyObject_ArenaMmap", "new_arena")
_INTERPRETER_FRAMES = 8
"""How deep the interpreter's own allocations are: below that, it runs somebody's code."""

# A TorchScript function, or the forward of a ScriptModule taken by itself, is called without any
# line of torch's Python: these are how the call comes in.
_SCRIPT_SYMBOLS = (
    "torch::jit::runAndInsertCall(",
    "torch::jit::invokeScriptFunctionFromPython(",
    "torch::jit::invokeScriptMethodFromPython(",
)


@dataclass(frozen=True, slots=True)
class Site:
    """Where an allocation was asked for, and whose it is."""

    owner: str
    file: str
    line: int
    function: str
    stack: tuple[StackFrame, ...]
    """innermost frame first"""
    listed: bool = False
    """whether numpy takes its blocks from free lists, as far as they are small, and gives them back
    to these; only told of sites whose native symbols were read"""

    @property
    def where(self) -> str:
        """`file:line in function`, for people."""
        return f"{self.file}:{self.line} in {self.function}" if self.line else self.file

    def room(self, size: int) -> int:
        """How many of its blocks of a size may lie in a list, for all that it seems to keep them.

        The most arrays that were ever alive at once leave so many blocks in it, as far as there is
        room; and blocks are exchanged there for those of others.
        """
        return HELD if self.listed and size <= LARGEST else 0


class Owners:
    """The ordered list, with a cache of what matched."""

    def __init__(self, extra: Sequence[tuple[str, str]] = (), backend_root: str = "") -> None:
        """`backend_root` is the folder or file that the backend under test was imported from."""
        paths = sysconfig.get_paths()
        self._rules: list[tuple[str, str]] = [
            *extra,
            # the copy of each input frame, as a decoder would make it
            (SOURCE, f"{escape(_PACKAGE)}/source.py"),
            (HARNESS, f"{escape(_PACKAGE)}/*"),
            # below the forward call of an nn.Module or ScriptModule
            (MODEL, "*/torch/nn/modules/module.py:_call_impl"),
            # below InferenceSession.run
            (MODEL, "*/onnxruntime/capi/onnxruntime_inference_collection.py:run"),
            # before site-packages: the backend may itself be installed there
            *([(BACKEND, f"{escape(backend_root)}*")] if backend_root else []),
            # Libraries act for whoever called them.
            *((_TRANSPARENT, f"{escape(paths[name])}/*") for name in _LIBRARIES),
            (_TRANSPARENT, "<frozen *"),
            # All other Python code is the user's.
            (BACKEND, "*"),
        ]
        self._matched: dict[tuple[str, str], str] = {}

    def site(self, stack: Sequence[StackFrame]) -> Site:
        """The owner of an allocation with this Python stack (innermost first), and its line.

        The line is the innermost one of the owner's own code; for a model, the innermost line
        outside torch: the user's forward, or else the line that called the model.
        """
        owner, at = RUNTIME, ("", "<no Python frame>", 0) if not stack else stack[0]
        for frame in reversed(stack):
            matched = self._match(frame)
            if matched == _TRANSPARENT:
                continue
            if matched == MODEL:
                owner = MODEL
            elif owner == MODEL and matched == BACKEND:
                at = frame
            else:
                owner, at = matched, frame
        function, file, line = at
        return Site(owner, file, line, function, tuple(stack))

    def _match(self, frame: StackFrame) -> str:
        function, file, _ = frame
        key = (function, file)
        if (owner := self._matched.get(key)) is None:
            named = f"{file}:{function}"
            owner = next(
                owner
                for owner, glob in self._rules
                if fnmatchcase(file, glob) or fnmatchcase(named, glob)
            )
            self._matched[key] = owner
        return owner


def users_part(stack: Sequence[StackFrame]) -> tuple[StackFrame, ...]:
    """A stack without its outer end, which is the harness calling the backend."""
    for depth, (_, file, _) in enumerate(stack):
        if depth and file.startswith(_PACKAGE):
            return tuple(stack[:depth])
    return tuple(stack)


def owner_by_symbols(native_stack: Sequence[StackFrame]) -> str | None:
    """Whose an allocation is by its native frames (innermost first), None if they don't say.

    CPython or libc at work on its own account, or the TorchScript interpreter; an arena counts as
    the harness's own, and so not at all.
    """
    symbols = [function for function, _, _ in native_stack]
    if any(symbol in _ARENA_SYMBOLS for symbol in symbols[:_INTERPRETER_FRAMES]):
        return HARNESS
    if any(symbol in _INTERPRETER_SYMBOLS for symbol in symbols[:_INTERPRETER_FRAMES]):
        return INTERPRETER
    if any(symbol.startswith(_SCRIPT_SYMBOLS) for symbol in symbols):
        return MODEL
    return None
