"""Sites, as heaptrack prints them, and of a real process where heaptrack is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from harness import cli
from harness.errors import UsageError
from harness.watch import heaptrack
from harness.watch.heaptrack import Site
from tests.harness.watch.running import Watch

PRINTED = """\
reading file "data" - please wait, this might take some time...
Debuggee command was: ./leak
finished reading file, now analyzing data:

MEMORY LEAKS
2.50M leaked over 20 calls from
lose
  at /src/leak.c:5
  in /src/leak
2.00M leaked over 15 calls from:
    step
      at /src/leak.c:16
      in /src/leak
    main
      at /src/leak.c:26
      in /src/leak
and 500.00K from 1 other places

72B leaked over 1 calls from
0x7fc2
  in /lib/libstdc++.so.6
72B leaked over 1 calls from:
    _init
      in /lib/ld.so


total runtime: 0.20s.
total memory leaked: 2.50M
"""

installed = pytest.mark.skipif(
    not all(map(shutil.which, ("heaptrack", "heaptrack_print", "cc"))),
    reason="heaptrack or a C compiler is not installed",
)


def test_sites_are_read() -> None:
    assert list(heaptrack.parse(PRINTED)) == [
        Site(
            2_500_000, 20, "lose", "/src/leak.c:5",
            ("step (/src/leak.c:16)", "main (/src/leak.c:26)"),
        ),
        Site(72, 1, "0x7fc2", "/lib/libstdc++.so.6", ("_init (/lib/ld.so)",)),
    ]  # fmt: skip


def test_nothing_leaked_is_no_site() -> None:
    assert list(heaptrack.parse("MEMORY LEAKS\n\ntotal runtime: 0.20s.\n")) == []


def test_data_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"heaptrack wrote no data"):
        heaptrack.sites(tmp_path)


def test_without_heaptrack_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert cli.main(["watch", "--sites", "--quiet", "--", "true"]) == 2
    assert "--sites needs heaptrack, which is not installed" in capsys.readouterr().err


@installed
def test_the_line_of_a_leak_is_the_first_site(tmp_path: Path) -> None:
    source = Path(__file__).with_name("leaks.c")
    program = tmp_path / "leaks"
    subprocess.run(["cc", "-g", "-O0", "-o", program, source], check=True)
    command = ("--sites", "--interval", "0.02", "--", str(program))
    done = Watch(tmp_path, *command, samples=200).done()
    assert done.code == 1, done.out
    site = done.report["sites"][0]
    assert site["function"] == "lose"
    assert site["place"].endswith("leaks.c:7")
    assert site["callers"][0].startswith("main (")
    # Every second one is freed.
    assert site["bytes"] == pytest.approx(site["calls"] / 2 * 10_000, rel=0.01)
    # Neither its script nor what packs its data is counted.
    steady = done.report["samples"][done.report["start"] : done.report["end"]]
    assert {sample["processes"] for sample in steady} == {1}
