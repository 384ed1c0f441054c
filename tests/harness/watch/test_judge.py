"""From what was seen to the report, and what the report looks like."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from rich.console import Console

from harness.report import watch_progress, watch_terminal
from harness.report.watch_html import watch_page
from harness.report.watch_words import size
from harness.watch.heaptrack import Site
from harness.watch.judge import judged
from harness.watch.result import Watched, to_json
from harness.watch.sample import Sample
from harness.watch.session import Seen

MIB = 1 << 20


def sample(at: float, memory: int) -> Sample:
    return Sample(at, memory, memory, 2 * memory, memory + 5, 0, 3, 7, 2)


def seen(rate: float = 0, count: int = 300, **changes: Any) -> Seen:
    """Samples of 100 MiB every 0.1 s, growing by so many bytes a second."""
    samples = [sample(n / 10, 100 * MIB + round(rate * n / 10)) for n in range(count)]
    return Seen(**({"interval": 0.1, "samples": samples, "ending": "duration"} | changes))


def report(found: Seen, **changes: Any) -> Watched:
    return judged(found, **({"watched": "mine --fast"} | changes))


def printed(made: Watched, *, brief: bool = False) -> str:
    out = io.StringIO()
    watch_terminal.render(made, Console(file=out, width=100), brief=brief)
    return out.getvalue()


def test_growth_is_a_failure_with_its_rate() -> None:
    made = report(seen(rate=10_240), fps=20)
    assert made.verdict == "fail"
    assert made.trend is not None
    assert made.trend.per_second == pytest.approx(10_240, rel=0.01)
    assert made.trend.per_frame is not None
    assert made.trend.per_frame[0] == pytest.approx(512, rel=0.01)
    text = printed(made)
    assert "FAIL  mine --fast: its memory goes on rising after the start-up." in text
    assert "+10.0 KiB (95% confidence: +10.0 KiB to +10.0 KiB) per second" in text
    assert "+512 B (95% confidence: +512 B to +512 B) per frame at 20 fps" in text
    assert "▁" in text
    assert "█" in text
    assert "1 in 200" in text


def test_none_is_a_pass() -> None:
    made = report(seen())
    assert (made.verdict, made.trend and made.trend.growth) == ("pass", 0)
    assert printed(made, brief=True) == (
        "PASS  mine --fast: no drift of its memory was found after the start-up.\n"
    )


def test_too_few_samples_are_no_verdict() -> None:
    made = report(seen(rate=1e6, count=59))
    assert (made.verdict, made.trend) == ("no-verdict", None)
    assert "the time was over after 59 samples, 60 are needed" in printed(made)


def test_no_permission_is_no_verdict() -> None:
    made = report(seen(ending="no-permission", reason="it is another user's"))
    assert (made.verdict, made.why) == ("no-verdict", "it is another user's")


def test_the_fall_at_the_end_of_a_process_is_not_counted() -> None:
    found = seen(rate=100_000, ending="ended", exit_code=0)
    falls = [sample(30 + n / 10, (90 - 20 * n) * MIB) for n in range(4)]
    found.samples += falls
    made = report(found)
    assert made.end == 300
    assert made.verdict == "fail"
    assert len(made.samples) == 304
    found.ending = "duration"
    assert report(found).end == 304


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"ending": "ended", "exit_code": 3}, "the command ended with exit code 3"),
        ({"ending": "ended", "exit_code": -9}, "the command was ended by SIGKILL"),
        ({"ending": "ended", "exit_code": -63}, "the command was ended by signal 63"),
        ({"ending": "ended"}, "the process ended"),
        ({"ending": "interrupted"}, "the watch was interrupted"),
    ],
)
def test_how_it_ended_is_told(changes: dict[str, Any], words: str) -> None:
    made = report(seen(**changes))
    assert made.ending == words
    assert words in printed(made)


def test_what_could_not_be_read_is_noted() -> None:
    assert report(seen(unreadable=("7 (sudo)",))).notes == (
        "7 (sudo) may not be read, and is left out",
    )


def test_json_has_every_sample() -> None:
    made = json.loads(to_json(report(seen(rate=10_240), watched="mine \udcff")))
    assert made["schema"] == 1
    assert made["watched"] == "mine \\udcff"
    assert made["verdict"] == "fail"
    assert len(made["samples"]) == 300
    assert made["samples"][10] == {
        "at": 1.0, "memory": 100 * MIB + 10_240, "uss": 100 * MIB + 10_240,
        "rss": 2 * (100 * MIB + 10_240), "pss": 100 * MIB + 10_245, "swap": 0,
        "threads": 3, "fds": 7, "processes": 2,
    }  # fmt: skip


def test_the_page_has_plots_and_escapes_what_is_foreign() -> None:
    site = Site(5000, 2, "lose<b>", "leak.c:4", ("main (leak.c:9)",))
    page = watch_page(report(seen(rate=10_240), watched="<script>alert(1)</script>", sites=[site]))
    assert "<script>alert(1)" not in page
    assert "lose<b>" not in page
    assert "lose&lt;b&gt;" in page
    figures = json.loads(page.split('id="figures">')[1].split("</script>")[0])
    assert figures.keys() == {"judged", "measures", "counts"}
    line, growth = figures["judged"]["data"]
    assert len(line["y"]) == len(line["x"]) == 300
    assert growth["y"][0] == 100 * MIB
    assert growth["y"][1] == pytest.approx(100 * MIB + 10_240 * 29.9, abs=4096)


def test_a_page_without_samples_has_no_plots() -> None:
    page = watch_page(report(seen(count=0)))
    assert "0 samples" in page
    assert 'id="figures"' not in page


def test_sites_are_shown_with_their_callers() -> None:
    site = Site(200_000, 1, "lose", "leak.c:4", ("main (leak.c:9)",))
    text = printed(report(seen(), sites=[site]))
    assert "195.3 KiB not freed of 1 allocation in lose (leak.c:4)\n    main (leak.c:9)\n" in text


def test_progress_off_a_terminal_is_a_line_now_and_then() -> None:
    out = io.StringIO()
    with watch_progress.shown(Console(file=out, width=100), 60, quiet=False) as observe:
        for each in seen(count=250).samples:
            observe(each)
    assert out.getvalue().splitlines() == [
        "watching: 10 of 60 s, 100.0 MiB, 3 threads, 2 processes",
        "watching: 20 of 60 s, 100.0 MiB, 3 threads, 2 processes",
    ]


def test_progress_on_a_terminal_is_one_live_line() -> None:
    out = io.StringIO()
    console = Console(file=out, width=100, force_terminal=True)
    with watch_progress.shown(console, None, quiet=False) as observe:
        observe(sample(1.0, MIB))
        observe(sample(2.0, 2 * MIB))
    assert "2 s, 2.0 MiB, 3 threads, 2 processes  ▁█" in out.getvalue()


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 B"),
        (12.34, "12 B"),
        (0.25, "0.2 B"),
        (-1536, "-1.5 KiB"),
        (5 * MIB, "5.0 MiB"),
        (3 << 50, "3072.0 TiB"),
    ],
)
def test_sizes(number: float, text: str) -> None:
    assert size(number) == text
    assert size(number, sign=True) == (text if number <= 0 else f"+{text}")
