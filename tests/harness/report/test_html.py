"""The pages as text: what they say, that nothing on them is obeyed, and nothing fetched."""

from __future__ import annotations

import base64
import hashlib
import re
import tomllib
from html.parser import HTMLParser
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.report import pages
from harness.report.html import MOST_FINDINGS, Entry, case_page, index_page
from harness.result import BufferCurve, Extent, Failure, Report, RuleResult, Survivors, Teardown

HOSTILE = (
    "</script><script>own()</script><img src=x onerror=own()> '\"{{7*7}} \n\0\x1b[2J\udcff\u202e"
)
TAGS_OF_OURS = {
    "a", "article", "b", "body", "br", "button", "code", "dd", "details", "div", "dl", "dt",
    "figcaption", "figure", "footer", "h1", "h2", "h3", "head", "header", "html", "li", "main",
    "meta", "nav", "ol", "p", "polyline", "pre", "script", "section", "span", "style", "summary",
    "svg", "table", "tbody", "td", "th", "thead", "title", "tr", "ul",
}  # fmt: skip


class Page(HTMLParser):
    """What a browser would make of a page, as far as the tests ask."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.scripts: list[str] = []
        self._in = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._in = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, _tag: str) -> None:
        self._in = ""

    def handle_data(self, data: str) -> None:
        if self._in == "script":
            self.scripts[-1] += data
        elif self._in != "style":
            self.text += data

    def values(self, tag: str, name: str) -> list[str]:
        return [value for t, attrs in self.tags if t == tag and (value := attrs.get(name))]


def hostile(make_failed, make_finding, make_step) -> Report:
    found = make_finding(
        owner=HOSTILE, file=HOSTILE, function=HOSTILE, text=HOSTILE, kind=HOSTILE,
        stack=((HOSTILE, HOSTILE, 1),),
    )  # fmt: skip
    step = make_step(1, 0, **{HOSTILE: (1, 2)})
    step.live_by_owner = {HOSTILE: 3}
    return make_failed(
        found,
        rule=HOSTILE,
        target=HOSTILE,
        workload=HOSTILE,
        replay=HOSTILE,
        notes=(HOSTILE,),
        environment={HOSTILE: HOSTILE, "variables": {HOSTILE: HOSTILE}},
        video=HOSTILE,
        options={HOSTILE: HOSTILE},
        buffers=(BufferCurve(HOSTILE, 1, HOSTILE, 1, ((0, 4096),)),),
        failure=Failure(HOSTILE, HOSTILE, 1, 0, HOSTILE, HOSTILE),
        teardown=Teardown(
            {HOSTILE: HOSTILE}, {}, (Survivors(HOSTILE, HOSTILE, 1, HOSTILE, 1, 1),),
            {HOSTILE: Extent(1, 2, 3)},
        ),
        steps=(step,),
        curves={HOSTILE: (1, 2)},
    )  # fmt: skip


def test_case_says_the_verdict_then_the_findings_then_the_rest(make_failed, make_finding) -> None:
    text = Page(case_page("mine", make_failed(make_finding()), home="index.html")).text
    parts = (
        "FAIL my.module:factory violates zero-owned: steady-allocations (1 finding).",
        "Findings", "Why it is a fault", "Usual remedy", "One tensor of 49,152 bytes",
        "/nowhere/mine.py:3", "1,234 allocations, 8,257,536 bytes; owner backend",
        "Stack, innermost first (2 frames)", "/nowhere/app.py:99",
        "Rules", "the backend allocates",
        "Memory over the run", "Live bytes", "Allocations per step", "Requests in flight",
        "Steady steps", "backend 0", "model 1,204 / 2,943,120",
        "Teardown", "threads", "What is left, by site", "12,345 bytes in 3 blocks",
        "Replay", "steadyframe verify my.module:factory", "Environment", "2.13.0",
    )  # fmt: skip
    at = text.index("FAIL")
    for part in parts:
        assert part in text[at:], part
        at = text.index(part, at)


def test_head_says_what_was_run_and_so_does_the_window_title(make_report) -> None:
    report = make_report(video="/long/way/<clip>.mp4", options={"nireq": 4})
    text = Page(case_page("mine", report)).text
    assert "PASS mine: my.module:factory, <clip>.mp4, nireq=4, zero-owned, 3 cycles" in text
    head = text[text.index("PASS my.module:factory holds") : text.index("rule")]
    facts = (
        "targetmy.module:factory", "video<clip>.mp4", "optionsnireq=4", "levelzero-owned",
        "cycles3", "steps20", "events traced98,765", "time1.2 s",
    )  # fmt: skip
    for fact in facts:
        assert fact in head


def test_rules_that_did_not_pass_come_first(make_report) -> None:
    statuses = {"one": "pass", "two": "skipped", "three": "fail", "four": "pass", "five": "fail"}
    rules = tuple(RuleResult(name, status, 0, 0, "") for name, status in statuses.items())  # type: ignore[arg-type]
    text = case_page("mine", make_report(verdict="fail", rules=rules))
    found = re.findall(r'<th scope="row">(\w+)</th><td data-label="status"', text)
    assert found == ["three", "five", "two", "one", "four"]


def test_source_is_shown_with_the_line_marked_and_its_indentation_taken_off(
    make_failed, make_finding, tmp_path
) -> None:
    source = tmp_path / "mine.py"
    source.write_text("class A:\n        def f():\n            x <y\n\n            z\n")
    page = case_page("mine", make_failed(make_finding(file=str(source), line=3)))
    assert '<span class="found"><b>3</b>            x &lt;y\n' in page
    page = case_page("mine", make_failed(make_finding(file=str(source), line=5)))
    assert '<span class="found"><b>5</b>z\n' in page


def test_findings_of_one_kind_share_its_explanation(make_failed, make_finding) -> None:
    kinds = ["churn", "kept", "churn"]
    page = case_page("mine", make_failed(*(make_finding(kind=kind) for kind in kinds)))
    assert page.count("Why it is a fault") == 2
    assert page.count('<div class="finding">') == 3


def test_many_findings_are_cut_and_it_says_so(make_failed, make_finding) -> None:
    found = [make_finding(line=line) for line in range(MOST_FINDINGS + 7)]
    page = case_page("mine", make_failed(*found))
    assert page.count('<div class="finding">') == MOST_FINDINGS
    assert "And 7 more findings" in page


def test_a_failed_rule_without_findings_is_told(make_failed) -> None:
    assert "<p>the backend allocates</p>" in case_page("mine", make_failed())


def test_no_verdict_says_what_happened_and_what_was_said_last(make_report) -> None:
    failure = Failure("killed", "flush", 2, 17, "It was killed.", "line one\nline <two>\n")
    page = case_page("mine", make_report(verdict="no-verdict", failure=failure, rules=(), steps=()))
    assert "NO VERDICT" in page
    assert "<pre>line one\nline &lt;two&gt;\n</pre>" in page
    assert "figures" not in "".join(Page(page).values("script", "id"))


def test_peaks_are_in_the_teardown_table(make_report) -> None:
    teardown = Teardown({}, {}, (), {"cuda_bytes": Extent(0, 4096, 0)})
    text = " ".join(Page(case_page("mine", make_report(teardown=teardown))).text.split())
    assert "cuda_bytes04,09600" in text
    assert "at native speed" in text


def test_no_text_is_taken_for_html(make_failed, make_finding, make_step) -> None:
    report = hostile(make_failed, make_finding, make_step)
    for text in (
        case_page(HOSTILE, report, home="index.html"),
        index_page([Entry(HOSTILE, report, f"{HOSTILE}.html", f"{HOSTILE}.json")]),
    ):
        text.encode()
        page = Page(text)
        assert {tag for tag, _ in page.tags} <= TAGS_OF_OURS
        assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]
        assert all("own()" not in script for script in page.scripts[-1:])
        assert "49" not in re.findall(r"\{\{.*?\}\}|'\"49", text)
        assert not set(text) & {"\0", "\x1b", "\u202e"}
    assert page.text.count("</script><script>own()</script>") >= 2


def test_pages_name_every_script_by_its_hash_and_reach_no_network(make_report) -> None:
    for embed in (False, True):
        page = Page(case_page("mine", make_report(), embed=embed))
        (policy,) = [a["content"] for t, a in page.tags if t == "meta" and "http-equiv" in a]
        assert policy is not None
        assert "default-src 'none'" in policy
        assert "connect-src" not in policy
        codes = [
            script for script in page.scripts if script and not script.lstrip().startswith("{")
        ]
        assert len(codes) == (2 if embed else 1)
        for code in codes:
            digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
            assert f"'sha256-{digest}'" in policy
        assert page.values("script", "src") == ([] if embed else ["plotly.min.js"])
        assert page.values("link", "href") == page.values("img", "src") == []


def test_index_links_each_case_and_gives_its_numbers(make_report, make_failed) -> None:
    entries = [
        Entry("espcn sync", make_report(), "espcn sync.html", "espcn sync.json"),
        Entry("bad", make_failed(), "bad.html", "bad.json"),
    ]
    entries[1].report.options = {"nireq": 4}
    entries[1].report.steps[0].live_bytes = 1_000
    entries[1].report.steps[5].live_bytes = 9_000
    page = Page(index_page(entries))
    assert page.values("a", "href")[:2] == ["bad.html", "espcn%20sync.html"], "the worst first"
    assert "FAIL 1 of 2 cases hold their contract." in page.text
    assert "model 1,204" in page.text
    assert len(page.values("polyline", "points")) == 2
    assert "my.module:factory, 128x96@100*40, nireq=4zero-owned, 3 cycles" in page.text
    assert "1,000 to 4,096at most 9,000" in page.text
    assert page.scripts.count("") == 0, "the list draws nothing that takes plotly"


def test_script_is_written_once(tmp_path) -> None:
    pages.write_script(tmp_path)
    script = tmp_path / pages.SCRIPT
    assert script.stat().st_size > 1_000_000
    before = script.stat().st_mtime_ns
    pages.write_script(tmp_path)
    assert script.stat().st_mtime_ns == before
    script.write_text("an older one")
    pages.write_script(tmp_path)
    assert script.stat().st_size > 1_000_000


def test_missing_plotly_is_told_with_its_remedy(monkeypatch) -> None:
    monkeypatch.setattr(pages, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match="make setup"):
        pages.plotly_script()


def test_ten_thousand_steps_make_a_page_below_a_megabyte_that_says_what_is_drawn(
    make_report, make_failed, make_step
) -> None:
    steps = tuple(
        make_step(1, index, backend=(index, 10**6 + index), model=(6896, 10**7), own=(3, 9))
        for index in range(10_000)
    )
    for step in steps:
        step.live_by_owner = {"backend": 10**8 + step.index, "model": 10**8, "own": 10**7}
    page = case_page("long", make_failed(steps=steps, workload="8x8@100*40000"))
    assert len(page) < 1_000_000
    assert "highest or lowest among its neighbours" in page
    assert "among its neighbours" not in case_page("short", make_report())


def test_every_template_is_in_the_installed_package() -> None:
    project = tomllib.loads((Path(pages.__file__).parents[2] / "pyproject.toml").read_text())
    patterns = project["tool"]["setuptools"]["package-data"]["harness"]
    package = Path(pages.__file__).parents[1]
    installed = {path for pattern in patterns for path in package.glob(pattern)}
    assert {path for path in pages._TEMPLATES.rglob("*") if path.is_file()} <= installed


def test_the_command_of_the_flame_graph_is_beside_what_is_left(make_report) -> None:
    report = make_report()
    assert f"{report.replay} --flamegraph flamegraph.html" in Page(case_page("one", report)).text
    report.replay = "verify mine from where it is made: no command can import it"
    assert "--flamegraph" not in case_page("one", report)
    assert "--flamegraph" not in case_page("one", make_report(teardown=Teardown({}, {})))
