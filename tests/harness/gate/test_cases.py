"""[[tool.steadyframe.cases]]: what it stands for, and one clear line for each mistake in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import config
from harness.baseline import load
from harness.errors import UsageError
from harness.gate.case import Case
from harness.workload import SCENARIOS

ROOT = Path(__file__).parents[3]


def declared(folder: Path, text: str) -> tuple[Case, ...]:
    (folder / "pyproject.toml").write_text(f"[[tool.steadyframe.cases]]\n{text}\n")
    return config.load(folder).cases


def test_one_target_is_one_case_of_its_name(tmp_path: Path) -> None:
    assert declared(tmp_path, 'target = "espcn"') == (Case("espcn", "espcn"),)


def test_lists_are_multiplied_out_and_name_their_cases(tmp_path: Path) -> None:
    cases = declared(
        tmp_path,
        'name = "n"\ntarget = ["a", "b"]\nworkload = ["constant", "clip"]\n'
        'options = {mode = ["sync", "async"], nireq = 4, fast = [true]}\nquick = true',
    )
    assert [case.name for case in cases] == [
        f"n-{target}-{mode}-true-{workload}"
        for target in ("a", "b")
        for mode in ("sync", "async")
        for workload in ("constant", "clip")
    ]
    assert cases[3].options == {"mode": "async", "nireq": 4, "fast": True}
    assert (cases[3].target, cases[3].workload, cases[3].quick) == ("a", "clip", True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('name = "a"', "missing required field `target`"),
        ("target = 3", "Expected `str | array`"),
        ('target = "a"\nworkloads = "constant"', "no key 'workloads': did you mean 'workload'?"),
        ('target = "a"\nworkload = "constnat"', "did you mean 'constant'?"),
        ('target = "a"\nworkload = "8x8"', "the frame rate is missing"),
        ('target = "a"\nworkload = "burst"\nvideo = "x.mp4"', "exclude each other"),
        ('target = "a"\nlevel = "zero"', "there is no level 'zero': choose from"),
        ('target = "a"\ncycles = 0', "cycles: 0 is not a whole number of 1 or more"),
        ('target = "a"\nwarmup = -1', "warmup: -1 is not a whole number of 0 or more"),
        ('target = "a"\noptions = {a = {}}', "$.options"),
        ('target = "m:f"', "can't name a case"),
        ('name = "../a"\ntarget = "a"', "can't name a case"),
        ('target = "a"\nworkload = ["8x8@25*4"]', "can't name a case"),
        ('target = "a"\n[[tool.steadyframe.cases]]\ntarget = "a"', "two cases called 'a'"),
        (f'target = "a"\noptions = {{n = {list(range(10_001))}}}', "more than 10,000"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_that_names_the_case(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UsageError) as raised:
        declared(tmp_path, text)
    assert words in str(raised.value)
    assert "cases: case " in str(raised.value)
    assert "\n" not in str(raised.value)


def test_what_ships_is_gated_in_both_modes_and_under_every_scenario() -> None:
    cases = config.read(ROOT / "pyproject.toml").cases
    for target in ("identity", "delay", "small"):
        for mode in ("sync", "async"):
            its = {c.workload for c in cases if (c.target, c.options["mode"]) == (target, mode)}
            assert its == {*SCENARIOS, "clip"}
    for target in ("espcn", "srcnn", "dncnn", "planned"):
        assert {c.options["mode"] for c in cases if c.target == target} == {"sync", "async"}


def test_the_baseline_of_what_ships_has_all_of_it_and_nothing_else() -> None:
    baseline = load(ROOT / "reports" / "baseline.json")
    assert baseline is not None
    cases = {case.name: case for case in config.read(ROOT / "pyproject.toml").cases}
    assert {name: entry.case for name, entry in baseline.cases.items()} == cases
    for name, entry in baseline.cases.items():
        for record in entry.measured:
            assert record.counts.verdict == "pass", name
            owned = [row.allocations for row in record.counts.steady if row.owner == "backend"]
            assert owned, name
            assert not any(owned), name
