"""Verifications of tests held against exact counts, and recorded."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.pytest_plugin.baseline import opened
from tests.plugin.world import BACKENDS, line_of, run_pytest

TESTS = """
from backends import *

def test_sound(steady):
    steady.verify(Sound, level="zero-growth", **QUICK)

def test_closure(steady):
    steady.verify(lambda: Sound(), level="zero-growth", **QUICK)

def test_other(steady):
    steady.verify(lambda: Sound(), level="zero-growth", **QUICK)

def test_gone(steady):
    steady.verify(lambda: Sound(), level="zero-growth", **QUICK)
"""
WORSE = BACKENDS.replace(
    "        return np.invert",
    "        np.empty(9000)  # new\n"
    "        kept or kept.append(bytearray(5000))  # left once\n"
    "        return np.invert",
)
"""allocates on each frame and frees it again, and leaves something once: zero-growth holds"""
DRAWN = """
from hypothesis import Phase, given, settings, strategies

@settings(max_examples=1, phases=[Phase.generate], deadline=None, database=None)
@given(strategies.just(QUICK))
def test_drawn(steady, quick):
    steady.verify(lambda: Sound(), **quick)
"""
FILE = "steady-baseline.json"
HOLD = ("--steady-baseline", FILE)
UPDATE = "--steady-update-baseline"
CLOSURE = "test_it.py-test_closure"
SOUND = "test_it.py-test_sound"


def write(folder: Path, tests: str = TESTS, backends: str = BACKENDS) -> None:
    (folder / "backends.py").write_text(backends)
    (folder / "test_it.py").write_text(tests)


def recorded(folder: Path) -> Any:
    return json.loads((folder / FILE).read_text())


def names(folder: Path) -> list[str]:
    """Of the cases, without their digests."""
    return [re.sub("-[0-9a-f]{6}", "", name) for name in recorded(folder)["cases"]]


def counts_of(baseline: Any, test: str) -> Any:
    [entry] = [one for name, one in baseline["cases"].items() if name.startswith(test)]
    return entry["measured"][0]["counts"]


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, int]:
    """A folder in which two workers record; what is said of it, and the exit code."""
    folder = tmp_path_factory.mktemp("recorded")
    write(folder)
    done = run_pytest(folder, UPDATE, "-n2")
    return folder, done.stdout, done.returncode


@pytest.fixture
def folder(tmp_path: Path, recording: tuple[Path, str, int]) -> Path:
    """Another folder with the same tests, and what was recorded of them."""
    write(tmp_path)
    shutil.copy(recording[0] / FILE, tmp_path)
    return tmp_path


def test_workers_hand_over_and_the_controller_alone_records(
    recording: tuple[Path, str, int],
) -> None:
    folder, output, code = recording
    assert code == 0, output
    assert f"recorded 4 verifications of 4 tests that passed in {FILE}" in output
    assert names(folder) == [CLOSURE, "test_it.py-test_gone", "test_it.py-test_other", SOUND]
    assert not list(folder.glob(".*partial"))
    # What a fork inherits depends on the tests before it, and so is not recorded.
    assert counts_of(recorded(folder), SOUND)["held"] == {"backend": {"blocks": 1, "bytes": 12288}}
    assert counts_of(recorded(folder), CLOSURE)["held"] == {}


def test_same_counts_pass_and_are_the_same_without_workers(folder: Path) -> None:
    before = recorded(folder)
    done = run_pytest(
        folder, *HOLD, "-p", "no:xdist", "--junitxml", "junit.xml", "-k", "sound or closure"
    )
    assert done.returncode == 0, done.stdout
    assert (folder / "junit.xml").read_text().count('baseline" value="same"') == 2
    assert "2 of 2 tests count as recorded in the baseline\n" in done.stdout
    assert recorded(folder) == before


def test_new_lines_fail_and_are_named(folder: Path) -> None:
    write(folder, backends=WORSE)
    done = run_pytest(folder, *HOLD, "-k", "sound or closure")
    assert "2 failed" in done.stdout, done.stdout
    text = done.stdout
    new, left = line_of(WORSE, "new"), line_of(WORSE, "left once")
    rise = "steady-allocations, backend: 0 -> 1 allocations per steady step of 32x32 x1\n"
    assert text.count(rise) == 2
    place = f"backends.py:{new} in __call__ (steady, owner backend)\n      > np.empty(9000)"
    assert text.count(place) == 2
    assert "teardown-release, backend: 0 -> 1 buffers left by the first cycle\n" in text
    assert f"backends.py:{left} in __call__ (first-use, owner backend)" in text
    assert (
        "  Look closer: steadyframe verify backends:Sound --workload '32x32@25*12' "
        "--level zero-owned --cycles 3 --quick\n" in text
    )
    assert f"  Look closer: pytest test_it.py::test_closure --steady-baseline {FILE}\n" in text


def test_each_test_is_judged_on_its_own_and_recording_one_leaves_the_rest(folder: Path) -> None:
    old = recorded(folder)
    counts_of(old, CLOSURE)["steady"][0]["allocations"] = 5
    counts_of(old, SOUND)["steady"][0]["allocations"] = 5
    for environment in old["environments"].values():
        if environment["versions"]["allocator"] == "glibc":  # of the fresh processes
            environment["versions"]["numpy"] = "0.1"
    (folder / FILE).write_text(json.dumps(old))
    start, test, rest = TESTS.replace("test_gone", "test_new").partition("def test_other")
    write(folder, start + test + rest.replace('level="zero-growth", ', "", 1))
    done = run_pytest(folder, *HOLD)
    assert "3 failed, 1 passed" in done.stdout, done.stdout
    text = done.stdout
    assert (
        "better than recorded: steady-allocations, backend: 5 -> 0 allocations per steady step of "
        f"32x32 x1; record what is better: pytest test_it.py::test_closure {UPDATE}  "
        "[test_it.py::test_closure]\n" in text
    )
    assert re.search(rf"^{SOUND}-\w+: not recorded for this environment$", text, re.M)
    assert re.search(
        r"^  not recorded for this environment: numpy .+ \(recorded: 0.1\)$", text, re.M
    )
    assert re.search(r"^test_it.py-test_other-\w+: declared otherwise than recorded$", text, re.M)
    assert "level zero-owned (recorded: zero-growth)" in text
    assert re.search(r"^test_it.py-test_new-\w+: not in the baseline$", text, re.M)
    assert f"  Record: pytest test_it.py::test_new {UPDATE}\n" in text

    before = recorded(folder)["cases"]
    assert run_pytest(folder, UPDATE, "-k", "new").returncode == 0
    after = recorded(folder)["cases"]
    assert len(after) == len(before) + 1
    assert {name: after[name] for name in before} == before


def test_a_test_that_passes_is_replaced_whole_and_none_that_fails_or_is_drawn(
    tmp_path: Path,
) -> None:
    verify = "    steady.verify(lambda: Sound(), **QUICK)\n"
    write(
        tmp_path,
        f"from backends import *\ndef test_a(steady):\n{verify}{verify}"
        f"def test_b(steady):\n{verify}",
    )
    assert run_pytest(tmp_path, UPDATE).returncode == 0
    assert names(tmp_path) == ["test_it.py-test_a", "test_it.py-test_a-2", "test_it.py-test_b"]
    before = recorded(tmp_path)["cases"]
    other = verify.replace("**QUICK", "workload='16x16@25*12', quick=True")
    write(
        tmp_path,
        f"from backends import *\ndef test_a(steady):\n{other}"
        f"def test_b(steady):\n{other}    assert not steady\n{DRAWN}",
    )
    done = run_pytest(tmp_path, UPDATE)
    assert "1 failed, 2 passed" in done.stdout, done.stdout
    assert "recorded 1 verification of 1 test that passed" in done.stdout
    assert (
        "neither held against the baseline nor recorded: Hypothesis draws anew each time  "
        "[test_it.py::test_drawn]\n" in done.stdout
    )
    assert names(tmp_path) == ["test_it.py-test_a", "test_it.py-test_b"]
    (a, b), (_, _, old_b) = recorded(tmp_path)["cases"].values(), before.values()
    assert a["case"]["workload"] == "16x16@25*12"
    assert b["case"] == old_b["case"]
    assert b["measured"][0]["counts"] == old_b["measured"][0]["counts"]


BAD = [
    (None, HOLD, f"there is no file {{}}: record it, pytest {UPDATE}"),
    (b"\xff\x00", HOLD, "{} is not a baseline"),
    (b"[" * 100_000, (UPDATE,), "{} is not a baseline"),
    (b'{"schema": 99}', HOLD, "{} has schema 99"),
    (b'{"schema": 1, "cases": {"\\u001b[31m\\n": 1}}', HOLD, "{} is not a baseline"),
    (b"", (UPDATE, "--steady-baseline", "."), "is a folder: name a file in it"),
    (b"", (UPDATE, "--steady-baseline", "no/such.json"), "or make its folder"),
]


@pytest.mark.parametrize(("content", "options", "says"), BAD)
def test_a_file_that_is_no_baseline_is_refused_in_one_line(
    tmp_path: Path, content: bytes | None, options: tuple[str, ...], says: str
) -> None:
    if content is not None:
        (tmp_path / FILE).write_bytes(content)
    given = {"--steady-baseline": Path(options[-1]) if len(options) > 1 else None,
             UPDATE: UPDATE in options}  # fmt: skip
    config = SimpleNamespace(
        getoption=given.get, rootpath=tmp_path, invocation_params=SimpleNamespace(dir=tmp_path)
    )
    with pytest.raises(pytest.UsageError) as caught:
        opened(cast(pytest.Config, config))
    text = str(caught.value)
    assert text.startswith("steadyframe: ")
    assert text.isprintable()
    assert says.format(tmp_path / FILE) in text


def test_such_a_file_ends_the_session_before_any_test(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / FILE).write_text("{")
    done = run_pytest(tmp_path, *HOLD, "-n2")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert done.stdout == ""
    [line] = done.stderr.strip().splitlines()
    assert line.startswith("ERROR: steadyframe: ")
    assert UPDATE in line
