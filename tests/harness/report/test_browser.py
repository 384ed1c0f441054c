"""The pages in a real browser: drawn, without an error, and without a request to anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.report import html, pages
from harness.report.diff import diff
from harness.report.diff_html import diff_page
from harness.result import Arena, BufferCurve, Expectation, Region, Report, RuleResult
from tests.harness.report.browser import CHROMIUM, Browser, browsing
from tests.harness.report.conftest import failed, finding, report, step

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium to open pages with")

HOSTILE = "</script><script>window.owned=1</script><img src=x onerror=window.owned=1>"
PLOTS = ["live-bytes", "allocations", "in-flight"]
SHIPPED = tuple(
    BufferCurve(f"/anywhere/backend/{file}.py", 62, "allocate", number, ((0, size), (5, 2 * size)))
    for file in ("buffer", "models")
    for number, size in enumerate((65536, 65536, 32768, 16384, 8192), 1)
)
"""as many lines of the plot, and names as long, as a shipped backend has at the most"""
RULES = tuple(RuleResult(f"rule-{n}", "pass", 0, 0, "what it counts, " * 6) for n in range(9))
TALL = 9000
"""height of a window in which all of a page is seen"""
DRAWN = "[...document.querySelectorAll('.plot .main-svg')].length"
IS_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


def bad_report() -> Report:
    steps = tuple(step(1, index, backend=(index, 64), model=(7, 70)) for index in range(20))
    for each in steps:
        each.live_by_owner = {"backend": 4000 + each.index, HOSTILE: 9}
    found = [finding(kind=kind, text=HOSTILE) for kind in ("churn", "kept")]
    return failed(
        *found,
        steps=steps,
        target=HOSTILE,
        environment={HOSTILE: HOSTILE},
        expectation=Expectation((4096,) * 20, (8192,) * 20),
        buffers=SHIPPED,
        arena=Arena(64, 48, (Region(HOSTILE, 0, 640, 0, 3), Region("b", 640, 64, 1, 2, HOSTILE))),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    entries = [
        html.Entry("good one", report(rules=RULES), "good one.html", "good one.json"),
        html.Entry("bad#?%", bad_report(), "bad#?%.html", "bad#?%.json"),
    ]
    pages.write_script(folder)
    (folder / "index.html").write_text(html.index_page(entries))
    for entry in entries:
        page = html.case_page(entry.name, entry.report, home="index.html")
        (folder / entry.page).write_text(page)
    (folder / "alone").mkdir()
    alone = folder / "alone/one.html"
    alone.write_text(html.case_page("bad", bad_report(), embed=True))
    (folder / "alone/diff.html").write_text(diff_page(diff(report(), bad_report())))
    return folder


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browsing(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture(autouse=True)
def clean(tab: Browser, folder: Path) -> Iterator[None]:
    """Whatever a test does, the page did nothing that it should not."""
    tab.errors.clear()
    tab.requests.clear()
    tab.show(1280)
    yield
    assert tab.errors == []
    outside = [
        address
        for address in tab.requests
        if not address.startswith((folder.resolve().as_uri(), "data:image/png;base64,"))
    ]
    assert outside == []
    assert tab.ask("window.owned") is None


def test_index_leads_to_each_case_and_back(tab: Browser, folder: Path) -> None:
    tab.open(folder / "index.html")
    assert tab.ask("document.querySelectorAll('tbody tr').length") == 2
    assert tab.ask("document.querySelectorAll('svg.sparkline polyline').length") == 2
    tab.click("tbody tr:nth-child(1) a")
    assert tab.ask("document.querySelector('h1').textContent") == "bad#?%"
    assert tab.ask(DRAWN) >= len(PLOTS)
    tab.click("nav a")
    assert tab.ask("document.querySelector('h1').textContent") == "Memory reports"
    tab.click("tbody tr:nth-child(2) a")
    assert tab.ask("document.querySelector('h1').textContent") == "good one"


@pytest.mark.parametrize("page", ["bad#?%.html", "alone/one.html"])
def test_case_draws_its_plots_and_lists_its_findings(tab: Browser, folder: Path, page) -> None:
    tab.show(1280, TALL)
    tab.open(folder / page)
    assert tab.ask("document.querySelectorAll('.fault').length") == 2
    assert HOSTILE in tab.ask("document.querySelector('.finding').textContent")
    for name in PLOTS:
        plot = f"document.getElementById('plot-{name}')"
        assert tab.ask(f"{plot}.querySelectorAll('.scatterlayer .trace path.js-line').length") >= 1
        assert tab.ask(f"{plot}.querySelector('.missing')") is None
    legend = tab.ask("document.querySelector('#plot-live-bytes .legend').textContent")
    assert "backend" in legend
    assert HOSTILE[:40] in legend, "markup in a name is shown as it is"
    assert "backend, expected" in legend
    arena = "document.querySelectorAll('#plot-arena .barlayer .point path').length"
    assert tab.ask(arena) == 2


def test_all_rules_of_a_pass_are_on_the_first_screen(tab: Browser, folder: Path) -> None:
    tab.show(1280, 900)
    tab.open(folder / "good one.html")
    ends = "[...document.querySelectorAll('#rules tr')].map(r => r.getBoundingClientRect().bottom)"
    assert len(tab.ask(ends)) == 1 + len(RULES)
    assert max(tab.ask(ends)) <= 900


@pytest.mark.parametrize("width", [1280, 390])
def test_no_legend_takes_more_than_a_quarter_of_its_plot_or_scrolls(
    tab: Browser, folder: Path, width
) -> None:
    tab.show(width, TALL)
    tab.open(folder / "bad#?%.html")
    shares = tab.ask(
        "[...document.querySelectorAll('.plot:has(.legend)')].map(plot => "
        "plot.querySelector('.legend .bg').getBoundingClientRect().height / plot.offsetHeight)"
    )
    assert len(shares) == 4
    assert max(shares) <= 0.25
    capacity = "document.querySelector('#plot-capacity .legend"
    assert tab.ask(f"{capacity}').querySelectorAll('.traces').length") == 8
    assert tab.ask(f"{capacity} .scrollbar').getBoundingClientRect().height") == 0


def test_no_button_sends_the_page_to_a_server(tab: Browser, folder: Path) -> None:
    tab.show(1280, TALL)
    tab.open(folder / "good one.html")
    buttons = "[...document.querySelectorAll('.modebar-btn')].map(button => button.dataset.title)"
    assert set(tab.ask(buttons)) == {
        "Download plot as a PNG", "Zoom", "Pan", "Zoom in", "Zoom out", "Reset axes",
    }  # fmt: skip


def test_plots_are_drawn_when_they_come_near_and_all_for_paper(tab: Browser, folder: Path) -> None:
    waiting = "[...document.querySelectorAll('.plot:not(:has(.main-svg))')].map(plot => plot.id)"
    tab.show(390, 300)
    tab.open(folder / "bad#?%.html")
    assert {"plot-live-bytes", "plot-in-flight"} <= set(tab.ask(waiting))
    tab.ask("document.getElementById('plot-in-flight').scrollIntoView()")
    tab.ask(
        "new Promise(done => { const look = () => document.querySelector('#plot-in-flight "
        ".main-svg') ? done() : requestAnimationFrame(look); look(); })"
    )
    assert "plot-live-bytes" in tab.ask(waiting)
    tab.ask("dispatchEvent(new Event('beforeprint'))")
    assert tab.ask(waiting) == []


@pytest.mark.parametrize("page", ["index.html", "bad#?%.html", "good one.html", "alone/diff.html"])
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_window(tab: Browser, folder: Path, page, width) -> None:
    tab.show(width, TALL)
    tab.open(folder / page)
    assert tab.ask(IS_WIDE) is False


def test_colours_follow_the_reader_and_paper_is_white(tab: Browser, folder: Path) -> None:
    def colors() -> tuple[str, str]:
        tab.ask("new Promise(done => setTimeout(done, 100))")
        paper = "getComputedStyle(document.body).backgroundColor"
        text = "getComputedStyle(document.querySelector('.plot .xtick text')).fill"
        return tab.ask(paper), tab.ask(text)

    tab.open(folder / "good one.html")
    light = colors()
    tab.show(1280, dark=True)
    dark = colors()
    assert light[0] == "rgb(255, 255, 255)"
    assert dark[0] != light[0]
    assert dark[1] != light[1]
    tab.show(1280, dark=True, paper=True)
    assert colors() == ("rgb(255, 255, 255)", "rgb(0, 0, 0)")


def test_stacks_are_unfolded_for_paper_and_folded_again(tab: Browser, folder: Path) -> None:
    tab.open(folder / "bad#?%.html")
    unfolded = "document.querySelectorAll('details[open]').length"
    assert tab.ask(unfolded) == 0
    tab.ask("dispatchEvent(new Event('beforeprint'))")
    assert tab.ask(unfolded) == 2
    tab.ask("dispatchEvent(new Event('afterprint'))")
    assert tab.ask(unfolded) == 0


def test_replay_command_is_copied_or_selected(tab: Browser, folder: Path) -> None:
    tab.open(folder / "good one.html")
    tab.ask("document.querySelector('button[data-copy]').click()")
    tab.ask("new Promise(done => setTimeout(done, 100))")
    label = tab.ask("document.querySelector('button[data-copy]').textContent")
    assert label in ("Copied", "Selected")
    if label == "Selected":
        assert tab.ask("getSelection().toString()").startswith("steadyframe verify")


def test_without_the_script_beside_it_a_page_says_what_is_missing(
    tab: Browser, folder: Path, tmp_path: Path
) -> None:
    page = tmp_path / "lost.html"
    page.write_text((folder / "good one.html").read_text())
    tab.open(page)
    assert tab.ask("document.querySelectorAll('.plot .missing').length") == len(PLOTS)
    assert any("ERR_FILE_NOT_FOUND" in error for error in tab.errors)
    tab.errors.clear()
    tab.requests.clear()
    tab.open(folder / "good one.html")


def test_a_script_that_slipped_through_is_not_run(tab: Browser, folder: Path) -> None:
    text = (folder / "good one.html").read_text()
    planted = folder / "planted.html"
    planted.write_text(
        text.replace("<main>", f"<main><script>window.owned=1</script>{HOSTILE[9:]}")
    )
    tab.open(planted)
    assert tab.ask("window.owned") is None
    assert any("Content Security Policy" in error for error in tab.errors)
    tab.errors.clear()
    tab.requests.clear()
