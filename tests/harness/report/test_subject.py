"""What was run, in few words: the scenario or the video by name, the options, the level."""

from __future__ import annotations

from harness.report.subject import MOST_IN_TITLE, fed, options, subject, title
from harness.workload import SCENARIOS


def test_a_scenario_and_a_video_are_told_by_name_and_other_workloads_by_their_text(
    make_report,
) -> None:
    assert fed(make_report()) == "128x96@100*40"
    assert fed(make_report(workload=str(SCENARIOS["burst"]))) == "burst"
    assert fed(make_report(video="/long/way/clip.mp4")) == "clip.mp4"


def test_subject_has_all_that_was_asked_for_and_nothing_that_was_not(make_report) -> None:
    report = make_report(video="/long/way/clip.mp4", options={"mode": "sync", "nireq": 4})
    assert options(report) == "mode=sync nireq=4"
    assert subject(report) == [
        ("target", "my.module:factory"),
        ("video", "clip.mp4"),
        ("options", "mode=sync nireq=4"),
        ("level", "zero-owned"),
        ("cycles", "3"),
    ]
    names = [name for name, _ in subject(make_report(workload="", cycles=0))]
    assert names == ["target", "level"]


def test_title_tells_runs_of_one_target_apart_and_stays_short(make_report, make_failed) -> None:
    report = make_report(target="/long/way/mine.py:Mine", options={"nireq": 4})
    assert title("case", report) == (
        "PASS case: mine.py:Mine, 128x96@100*40, nireq=4, zero-owned, 3 cycles"
    )
    report = make_failed(workload="128x96@100*40," * 90)
    begins = f"FAIL my.module:factory: {report.workload[:MOST_IN_TITLE]}..., zero-owned"
    assert title(report.target, report).startswith(begins)
    report = make_report(options={"name": "x" * 900})
    assert len(title("case", report)) < 200
