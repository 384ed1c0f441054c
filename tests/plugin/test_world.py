"""What tests that use the plugin come to: verdicts, messages, reports, properties, the summary."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.plugin.world import BACKENDS, WORLD, World, flat, line_of

PACKAGE = Path(__file__).parents[2] / "harness"
PASS = [
    "test_sound",
    "test_parametrised[a/b]",
    "test_method",
    "test_marked_method",
    "test_returns_a_factory",
    "test_yields[5000]",
    "test_good_blocks",
    "test_without",
]
FAIL = [
    "test_leaky",
    "test_closure",
    "test_crash",
    "test_bad_workload",
    "test_twice",
    "test_parametrised[a b]",
    "test_returns_a_backend",
    "test_block",
    "test_left",
    "test_bad_block",
    "test_bad_owners",
    "test_bad_warmup",
    "test_assertion_in_a_block",
]


def test_every_test_ends_as_it_should(world: World) -> None:
    outcomes = {name: world.outcome(str(name)) for name in world.cases}
    assert outcomes == {
        **dict.fromkeys(PASS, "passed"),
        **dict.fromkeys(FAIL, "failed"),
    }, world.output


@pytest.mark.parametrize("name", sorted({*FAIL} - {"test_assertion_in_a_block"}))
def test_no_failure_shows_frames_of_the_harness(world: World, name: str) -> None:
    text = world.failure(name)
    assert str(PACKAGE) not in text
    assert "Traceback" not in text
    assert "During handling" not in text


def test_a_finding_has_its_place_excerpt_kind_frames_and_replay(world: World) -> None:
    text, line = world.failure("test_leaky"), line_of(BACKENDS, "leaks")
    assert f"  backends.py:{line} in __call__" in text
    assert f"> {line} |         kept.append(bytearray(5000))  # leaks" in text
    assert "steady-growth: step 8 of cycle 1" in text
    assert "kind leak-per-frame; 4 frames (8-11)" in flat(text)
    assert (
        "\nReplay:   steadyframe verify backends:Leaky --workload '32x32@25*12' "
        "--level zero-owned --cycles 2 --quick" in text
    )


def test_a_closure_is_measured_and_replayed_by_its_test(world: World) -> None:
    text, line = world.failure("test_closure"), line_of(WORLD, "in a closure")
    assert f"test_world.py:{line} in infer" in text
    assert "forks of the one it was made in" in flat(text)
    assert text.endswith("Replay:   pytest test_world.py::test_closure")


def test_no_verdict_says_the_phase_and_the_last_frame(world: World) -> None:
    text = flat(world.failure("test_crash"))
    assert "NO VERDICT backends:Crashes crashed in execute, cycle 1, after frame 7." in text
    assert f'backends.py", line {line_of(BACKENDS, "dies")} in __call__' in text


def test_bad_usage_is_one_line(world: World) -> None:
    assert re.fullmatch(r"steadyframe: .*'1x'.*", world.failure("test_bad_workload"))
    assert re.fullmatch(
        r"steadyframe: no_allocations has the levels .*", world.failure("test_bad_block")
    )
    assert re.fullmatch(r"steadyframe: owners \[3\] is not .*", world.failure("test_bad_owners"))
    assert re.fullmatch(
        r"steadyframe: warmup 3 is not a function .*", world.failure("test_bad_warmup")
    )


def test_marked_tests_are_opened_anew_in_each_cycle_and_finished(world: World) -> None:
    assert "backends:Leaky" not in world.failure("test_returns_a_backend")
    assert "test_world:test_returns_a_backend violates" in world.failure("test_returns_a_backend")
    assert world.report("test_yields-5000")["cycles"] == 2
    assert (world.folder / "rests").read_text() == "33"


def test_blocks_name_the_lines_of_the_test(world: World) -> None:
    line = line_of(WORLD, "in a block")
    text = world.failure("test_block")
    assert "steady-allocations: 1 allocation of 7,001 bytes at" in text
    assert f"> {line} |         bytearray(7000)  # in a block" in text
    assert text.endswith("Replay:   pytest test_world.py::test_block")
    text = world.failure("test_left")
    assert f"> {line_of(WORLD, 'left')} |" in text
    assert "kind leak" in text


def test_error_within_a_block_is_the_tests_own(world: World) -> None:
    text = world.failure("test_assertion_in_a_block")
    assert "assert (1 + 1) == 3" in text
    assert "steadyframe" not in text


def test_settings_of_the_project_hold(world: World) -> None:
    assert world.report("test_sound")["cycles"] == 2


def test_each_verification_has_its_report_as_data_and_as_a_page(world: World) -> None:
    names = sorted(path.name for path in (world.folder / "reports").iterdir())
    names.remove("plotly.min.js")  # once, for all pages
    data = [name[:-5] for name in names if name.endswith(".json")]
    assert [name[:-5] for name in names if name.endswith(".html")] == data
    twice = [name for name in data if "test_twice" in name]
    assert {name.removeprefix(min(twice, key=len)) for name in twice} == {"", "-2"}
    # A name with a blank and one with a slash are two.
    assert len([name for name in data if "test_parametrised" in name]) == 2
    assert world.report("test_leaky")["verdict"] == "fail"
    assert world.report("test_block")["replay"] == "pytest test_world.py::test_block"


def test_junit_has_the_worst_verification_of_a_test(world: World) -> None:
    told = world.properties("test_twice")
    assert told["steadyframe.verdict"] == "fail"
    assert told["steadyframe.target"] == "backends:Leaky"
    assert told["steadyframe.verifications"] == "2"
    assert told["steadyframe.workload"] == "32x32@25*12"
    assert int(told["steadyframe.allocations_per_steady_step"]) >= 1
    assert world.properties("test_sound")["steadyframe.allocations_per_steady_step"] == "0"
    assert world.properties("test_without") == {}


def test_summary_has_a_section(world: World) -> None:
    section = re.split(r"^=+ .+ =+$", world.output.split("= steadyframe =")[1], flags=re.M)[0]
    lines = [line for line in section.splitlines() if line.strip("=")]
    assert "NO VERDICT  backends:Crashes crashed in execute, cycle 1, after frame 7." in section
    assert [line for line in lines if line.endswith("[test_world.py::test_leaky]")]
    assert not [line for line in lines if "test_sound" in line]
    assert lines[-1] == "7 of 15 tests hold their contracts; 17 verifications in all"
