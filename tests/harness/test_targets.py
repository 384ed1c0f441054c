"""Targets: short names, their clashes, and what is said of a name that means nothing."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness import targets
from harness.errors import UsageError


def point(name: str, value: str, distribution: str = "steadyframe") -> EntryPoint:
    made = EntryPoint(name, value, targets.GROUP)
    return made._for(SimpleNamespace(name=distribution))  # type: ignore[attr-defined,no-any-return]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch):
    def register(*points: EntryPoint) -> None:
        monkeypatch.setattr(
            targets, "entry_points", lambda group: points if group == targets.GROUP else ()
        )

    return register


def test_short_name_resolves_without_importing_its_module(install) -> None:
    install(point("mine", "no_such_package.deep:open_mine"))
    assert targets.resolve("mine") == "no_such_package.deep:open_mine"
    assert "no_such_package" not in sys.modules


def test_long_form_needs_no_installed_package(install) -> None:
    install()
    assert targets.resolve("a.b:C.open") == "a.b:C.open"


def test_file_form_is_checked_for_the_file(install, tmp_path: Path) -> None:
    install()
    file = tmp_path / "mine.py"
    with pytest.raises(UsageError, match="there is no file"):
        targets.resolve(f"{file}:open_mine")
    file.touch()
    assert targets.resolve(f"{file}:open_mine") == f"{file}:open_mine"


def test_short_name_that_is_found_twice_in_one_distribution_is_no_clash(install) -> None:
    install(point("mine", "a:b"), point("mine", "a:b"))
    assert targets.resolve("mine") == "a:b"
    install(point("mine", "a:b"), point("mine", "a:c"))
    with pytest.raises(UsageError, match="registered by"):
        targets.resolve("mine")


def test_name_of_a_scheme_takes_any_text_after_its_colon() -> None:
    for text in ("hflip", "scale=1:2,hflip", "split[a][b];[a]x:y[c]"):
        target = f"libavfilter:{text}"
        assert targets.resolve(target) == target
        found = targets.scheme_of(target)
        assert found is not None
        assert (found[0].value, found[1]) == ("backend.libavfilter:open_graph", text)
    assert targets.scheme_of("libavfilter:") is None
    assert targets.scheme_of("backend.reference:open_small") is None


@pytest.mark.parametrize("target", ["a:", ":b", "a/b:c", "a:b:c", "a b:c", "a.:c", "a:1", "x.py:"])
def test_malformed_target_is_refused(install, target: str) -> None:
    install()
    with pytest.raises(UsageError):
        targets.resolve(target)


@pytest.mark.parametrize(
    ("target", "hint"),
    [
        ("espnc", "did you mean 'espcn'"),
        ("zzz", "choose from dncnn, espcn"),
        ("pack.module", "given as pack.module:factory"),
        ("mine.py", "given as mine.py:factory"),
    ],
)
def test_unknown_name_is_answered_with_what_was_meant(install, target: str, hint: str) -> None:
    install(point("espcn", "b:e"), point("dncnn", "b:d"))
    with pytest.raises(UsageError, match=hint):
        targets.resolve(target)


def test_a_file_that_is_not_there_is_answered_with_the_one_that_was_meant(
    install, tmp_path
) -> None:
    install()
    (tmp_path / "mine.py").touch()
    with pytest.raises(UsageError, match=rf"did you mean '{tmp_path}/mine.py'\?"):
        targets.resolve(f"{tmp_path}/mnie.py:open_mine")
    with pytest.raises(UsageError, match="check the path in"):
        targets.resolve("no/such/qqq.py:open_mine")


def test_name_of_two_distributions_is_refused_and_both_are_named(install) -> None:
    install(point("dup", "one:f", "first-package"), point("dup", "two:f", "second-package"))
    with pytest.raises(UsageError, match=r"first-package \(one:f\) and second-package \(two:f\)"):
        targets.resolve("dup")


def test_source_checkout_that_is_not_installed_is_told_how_to_install(install) -> None:
    install()
    with pytest.raises(UsageError, match="make setup"):
        targets.resolve("espcn")


def test_registered_is_sorted_and_keeps_every_claim(install) -> None:
    install(point("b", "m:b", "z"), point("a", "m:a"), point("b", "m:b2", "y"))
    names = targets.registered()
    assert list(names) == ["a", "b"]
    assert [targets.origin(claim) for claim in names["b"]] == ["y", "z"]
