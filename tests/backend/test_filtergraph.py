"""The text of a filter graph: filters, links, labels, quotes and escapes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.filtergraph import FilterText, parse


def test_chains_labels_and_arguments_are_told_apart() -> None:
    text = " [in] split [a] [b] ; [a]hflip, scale = 32:24 [c];[b][c]hstack=inputs=2,null"
    assert parse(text) == [
        FilterText("split", "", ("in",), ("a", "b"), follows=False),
        FilterText("hflip", "", ("a",), (), follows=False),
        FilterText("scale", "32:24", (), ("c",), follows=True),
        FilterText("hstack", "inputs=2", ("b", "c"), (), follows=False),
        FilterText("null", "", (), (), follows=True),
    ]


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("f='a,b'", "a,b"),
        (r"f=a\,b", "a,b"),
        (r"f=a\\:b", r"a\:b"),
        (r"f='a\:b'", r"a\:b"),
        ("f=a' b 'c", "a b c"),
        (r"f=a\ ", "a "),
        ("f= a ", "a"),
        ("f='[x];'", "[x];"),
    ],
)
def test_quotes_and_backslashes_take_the_meaning_from_what_follows(
    text: str, arguments: str
) -> None:
    (part,) = parse(text)
    assert part.arguments == arguments


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "lacks a filter"),
        ("hflip,", "lacks a filter at ''"),
        (",hflip", "lacks a filter at ',hflip'"),
        ("hflip;;vflip", "lacks a filter at ';vflip'"),
        ("[a", "label without an end"),
        ("[]hflip", "label without an end"),
        ("scale='1:2", "quote without an end"),
        ("scale=8]:6", "goes on with ']:6'"),
    ],
)
def test_what_is_no_graph_is_refused_with_the_place(text: str, words: str) -> None:
    with pytest.raises(ValueError, match="filter graph") as raised:
        parse(text)
    assert words in str(raised.value)


@given(st.text("ab=,;[]'\\ :", max_size=12))
def test_any_text_is_read_to_its_end_or_refused(text: str) -> None:
    try:
        parts = parse(text)
    except ValueError:
        return
    assert parts
    assert all(part.name for part in parts)
