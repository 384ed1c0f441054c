"""The benches of the planned executor print what they measured, and fail by their limits."""

from __future__ import annotations

import pytest

from harness.bench import planned, planned_memory


def test_the_table_has_a_row_for_each_case(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(planned, "MODELS", ("espcn",))
    monkeypatch.setattr(planned, "THREADS", (1,))
    monkeypatch.setattr(planned, "TURNS", 1)
    monkeypatch.setattr(planned, "_TURN_S", 0.0)
    assert planned.main(["16x16"]) in (0, 1)
    head, row, last = capsys.readouterr().out.splitlines()
    assert head.split()[:3] == ["model", "threads", "size"]
    assert row.split()[:3] == ["espcn", "1", "16x16"]
    assert "planned 0, 0, " in row
    assert int(row.split("eager ")[1].split(",")[0]) > 100
    assert last.endswith("of 1")


@pytest.mark.parametrize(("share", "code", "word"), [(0.4, 0, "kept"), (0.6, 1, "EXCEEDED")])
def test_memory_beyond_the_limit_fails(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    share: float,
    code: int,
    word: str,
) -> None:
    peaks = {"torch": 100_000, "planned": int(100_000 * share)}
    monkeypatch.setattr(planned_memory, "_in_fresh_process", lambda _, executor: peaks[executor])
    assert planned_memory.main([]) == code
    assert word in capsys.readouterr().out
