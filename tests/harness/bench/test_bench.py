"""The benches: what they say of a tool is what the tool found, and the events bench is linear."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from harness import isolate
from harness.bench import events, peers


def test_a_tool_finds_what_is_worse_than_with_the_sound_backend() -> None:
    totals: dict[str, int] = {}
    assert peers._worse({"lost": 5, "calls": 10}, totals) == ""
    assert peers._worse({"lost": 5, "calls": 9}, totals) == ""
    assert peers._worse({"lost": 7, "calls": 10}, totals) == "lost +2"
    assert peers._worse({"lost": 7, "calls": 11}, totals) == "lost +2 +1"


def test_numbers_are_read_from_what_a_tool_says() -> None:
    said = "==1==    definitely lost: 1,144 bytes in 1,028 blocks\n"
    assert peers._number(r"definitely lost: .* in ([\d,]+) blocks", said) == 1028
    assert peers._number(r"leaked allocations:\s+(\d+)", said) == 0


@pytest.mark.parametrize(
    ("tool", "name", "words"),
    [
        (peers.screen, "", ""),
        (peers.screen, "lost-through-pointer", "heap bytes"),
        (peers.screen, "descriptor-left", "descriptors"),
        (peers.verified, "", ""),
        (peers.verified, "two-buffers-per-frame", "steady-allocations"),
        (peers.verified, "capacity-not-equal", "grow-only"),
    ],
)
def test_what_is_ours_finds_what_is_planted(tool: peers.Tool, name: str, words: str) -> None:
    isolate.prestart()
    found = tool(peers.FAULTS.get(name, peers.SOUND), {})
    assert found.startswith(words)
    assert bool(found) is bool(words)


def test_a_missing_peer_is_said_to_be_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    for tool in ("plain", "screen", "verified"):
        monkeypatch.setattr(peers, tool, lambda *_: "")
    assert peers.main() == 0
    shown = capsys.readouterr().out
    assert "memcheck    missing: valgrind is not installed" in shown
    assert "heaptrack   missing: heaptrack is not installed" in shown


def test_plain_runs_without_torch() -> None:
    targets = [peers.SOUND, *peers.FAULTS.values()]
    script = f"import sys; from harness.bench import plain\nfor target in {targets}:\n"
    script += "    plain.main(target, '8x8@25*3', 2)\nassert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_memory_does_not_depend_on_the_number_of_events(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(events, "TRACES", ((200_000, 0), (800_000, 0)))
    assert events.main([]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:3]]
    few, many = ([float(cell.replace(",", "")) for cell in row] for row in rows)
    assert many[0] > 3.5 * few[0]
    assert many[4] < few[4] + 20  # MiB
    # Time is the machine's as much as ours: this is to see the square of it, no more.
    assert many[2] < 4 * few[2] * 3
