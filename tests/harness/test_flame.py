"""memray's flame graph: of the traced run, written whole or not at all."""

from __future__ import annotations

from pathlib import Path

from harness import flame
from tests.harness.core.helpers import PLANTED_TEARDOWN, run_planted


def test_a_run_leaves_a_page_that_names_what_is_alive_at_its_end(tmp_path: Path) -> None:
    to = tmp_path / "flame.html"
    report = run_planted("Registry", "64x64@25*2", cycles=2, flamegraph=to)
    page = to.read_text()
    assert PLANTED_TEARDOWN.name in page
    assert 'src="http' not in page
    assert report.notes == ()
    assert list(tmp_path.iterdir()) == [to]


def test_a_trace_that_can_not_be_drawn_is_a_note(tmp_path: Path) -> None:
    to = tmp_path / "out" / "flame.html"
    to.parent.mkdir()
    trace = tmp_path / "trace.bin"
    (lacking,) = flame.draw(trace, to)
    assert lacking.startswith(f"{to} was not written: the run left no trace")
    trace.write_text("no trace")
    (note,) = flame.draw(trace, to)
    assert note.startswith(f"{to} was not written: memray could not draw its flame graph: ")
    assert "does not look like" in note
    assert list(to.parent.iterdir()) == []
