"""The harness section: every tool has its row, and targets are held against the right figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import isolate
from harness.bench import overhead, watched
from harness.bench.watched import PEERS, Peer, Timed, Work

SOUND = Work("backend.faults.green.grow_only_arena:Backend", "8x8@25*12")
HEAVY = {
    "plain": [Timed(4, 2), Timed(40, 20)],
    "screening": [Timed(None, 2.1), Timed(None, 21)],
    "verify, traced run": [Timed(None, 4), Timed(None, 40)],
    "verify": [Timed(6), Timed(42)],
}
LIGHT = {"plain": [Timed(1, 0.1)], "verify": [Timed(2)], "valgrind memcheck": [Timed(60)]}


def test_a_row_has_the_ratio_and_the_difference_of_the_same_turn() -> None:
    rows = list(overhead._rows(SOUND, HEAVY, []))
    assert [str(SOUND), "verify", "command", 24, pytest.approx(1.275), 2] in rows
    assert [str(SOUND), "screening", "cycles", 11.55, 1.05, pytest.approx(0.55)] in rows
    assert len(rows) == 2 + 3  # of commands and of cycles


def test_a_missing_tool_has_a_row_that_says_so() -> None:
    rows = list(overhead._rows(SOUND, LIGHT, ["psleak"]))
    assert rows[-1] == [str(SOUND), "psleak", "command", "missing", "missing", "missing"]


def test_targets_are_of_the_cycles_of_the_command_and_by_memcheck() -> None:
    traced, screened, added, memcheck = overhead._targets(HEAVY, LIGHT)
    assert (traced.figure, traced.met) == (2, False)
    assert (screened.figure, screened.met) == (1.05, True)
    assert (added.figure, added.met) == (2, True)
    assert (memcheck.figure, memcheck.met) == (30, True)


def test_without_memcheck_its_target_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overhead.optional, "version", lambda _: "missing: apt-get install it")
    *_, memcheck = overhead._targets(HEAVY, {"plain": [Timed(1, 1)], "verify": [Timed(1)]})
    assert memcheck.met is None
    assert memcheck.at == "valgrind is missing: apt-get install it"


def test_a_plain_run_and_those_of_the_harness_tell_the_seconds_of_their_cycles() -> None:
    isolate.prestart()
    command, cycles = watched.plain(SOUND)
    assert command is not None
    assert cycles is not None
    assert 0 < cycles < command
    for instrument in ("screen", "trace"):
        inside = watched.inside(instrument, SOUND)
        assert inside.command is None
        assert inside.cycles is not None
        assert inside.cycles > 0


def test_a_command_that_fails_is_no_figure() -> None:
    peer = Peer("broken", "broken", lambda *_: ["sh", "-c", "echo no such thing >&2; exit 3"])
    with pytest.raises(RuntimeError, match="exited with 3: no such thing"):
        peer(SOUND)


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.needs)
def test_a_peer_is_given_the_same_work(peer: Peer, tmp_path: Path) -> None:
    given = " ".join(peer.command(SOUND, tmp_path))
    written = "".join(path.read_text() for path in tmp_path.iterdir())
    assert SOUND.target in given + written
    assert SOUND.workload in given + written
