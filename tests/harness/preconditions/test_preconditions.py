"""What can't be measured is said: in the run's notes, or as bad usage before it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness import environment, preconditions, zygotes
from harness.errors import UsageError

FORWARDING = """
#include <stddef.h>
extern void *__libc_malloc(size_t);
extern void __libc_free(void *);
void *malloc(size_t size) { return __libc_malloc(size); }
void free(void *block) { __libc_free(block); }
"""


def test_nothing_is_amiss_here() -> None:
    preconditions.require({})
    assert preconditions.foreign_allocator() is None
    assert [note for note in preconditions.notes() if "tracer of lines" not in note] == []


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"PYTHONMALLOC": "malloc"}, "PYTHONMALLOC=malloc makes every Python object"),
        ({"PYTHONMALLOC": "malloc_debug"}, "PYTHONMALLOC=malloc_debug makes every"),
        ({"PYTHONMALLOC": "debug"}, "larger than was asked for"),
        ({"PYTHONMALLOC": "pymalloc_debug"}, "larger than was asked for"),
        ({"PYTHONDEVMODE": "1"}, "PYTHONDEVMODE=1 makes each block"),
    ],
)
def test_what_changes_every_count_is_refused(variables: dict[str, str], words: str) -> None:
    with pytest.raises(UsageError, match="unset it") as raised:
        preconditions.require(variables)
    assert words in str(raised.value)


@pytest.mark.parametrize("value", ["", "default", "pymalloc"])
def test_pythons_own_allocator_is_taken(value: str) -> None:
    preconditions.require({"PYTHONMALLOC": value})


def test_another_platform_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(sys, "platform", "darwin")
        with pytest.raises(UsageError, match="only Linux"):
            preconditions.require({})
    monkeypatch.setattr("platform.libc_ver", lambda: ("", ""))
    with pytest.raises(UsageError, match="not glibc"):
        preconditions.require({})


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no compiler to make an allocator with")
def test_a_preloaded_allocator_is_named(tmp_path: Path) -> None:
    source, library = tmp_path / "other.c", tmp_path / "libother.so"
    source.write_text(FORWARDING)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
    script = "from harness import environment, preconditions\n"
    script += "print(environment.describe()['allocator'])\nprint(*preconditions.notes())"
    answer = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert answer[0] == "libother.so"
    assert "malloc is libother.so's and not glibc's" in answer[1]
    assert "heap_bytes says nothing" in answer[1]


def test_a_tracer_is_named() -> None:
    before = sys.gettrace()
    sys.settrace(lambda *_: None)
    try:
        assert any("a tracer of lines" in note for note in preconditions.notes())
    finally:
        sys.settrace(before)


def test_the_environment_holds_all_that_counts_depend_on(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("MALLOC_ARENA_MAX", "2")
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    monkeypatch.setenv("MY_SECRET", "x")
    described = environment.describe()
    names = {"OMP_NUM_THREADS", "MALLOC_ARENA_MAX", "PYTHONHASHSEED"}
    assert names <= set(described["variables"])
    assert "MY_SECRET" not in described["variables"]
    assert described["allocator"] == "glibc"
    assert described["processors"] >= 1
    assert described["torch_threads"] == torch.get_num_threads()
    assert {"python", "libc", "kernel", "memray", "numpy", "cpu_capability"} <= set(described)


def test_torch_that_is_not_there_is_said_before_a_helper_is_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(zygotes, "find_spec", lambda _: None)
    monkeypatch.setattr(zygotes.subprocess, "Popen", lambda *_, **__: pytest.fail("was started"))
    with pytest.raises(UsageError, match=r"torch is not installed.*: run `make setup`"):
        zygotes.Zygote()
