"""Ways through native code, on stacks as memray gives them."""

from __future__ import annotations

import pytest

from harness.native import path

UNKNOWN = ("<unknown>", "<unknown>", 0)


def exported(*names: str) -> list[tuple[str, str, int]]:
    """Functions of a library without debug information."""
    return [(name, "<unknown>", 0) for name in names]


def test_way_ends_where_the_interpreter_called() -> None:
    stack = [
        *exported("av_malloc", "av_frame_alloc", "av_frame_clone"),
        ("cfunction_call", "Objects/methodobject.c", 542),
        *exported("main"),
    ]
    assert path(stack) == "av_frame_alloc < av_frame_clone"
    assert path(stack[3:]) == ""


def test_lines_are_told_where_the_library_has_them() -> None:
    stack = [("keep", "/src/mine/mine.c", 7), ("__pyx_pw_1a_f", "a.c", 9), *exported("run")]
    assert path(stack) == "keep (mine.c:7) < a.f < run"


def test_functions_without_a_name_and_equal_neighbours_are_left_out() -> None:
    stack = [*exported("a", "a"), UNKNOWN, *exported("b", "a")]
    assert path(stack) == "a < b < a"
    assert path([UNKNOWN]) == ""


def test_arguments_of_templates_are_not_shown_and_long_names_are_cut() -> None:
    assert path(exported("at::empty(c10::ArrayRef<long>, int)")) == "at::empty"
    (long,) = [path(exported("x" * 200))]
    assert long == "x" * 57 + "..."
    assert path(exported(*"abcdefgh")) == "a < b < c < d"


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("__pyx_pf_2av_6filter_5graph_5Graph_10pull", "av.filter.graph.Graph.pull"),
        ("__pyx_pf_2av_5frame_5Frame___cinit__", "av.frame.Frame.cinit__"),
        ("__pyx_f_2av_5error_err_check", "av.error.err_check"),
        ("__pyx_tp_new_2av_5video_5frame_VideoFrame", "av.video.frame.VideoFrame"),
        ("__pyx_odd", "__pyx_odd"),
    ],
)
def test_functions_of_cython_have_the_names_of_their_source(symbol: str, name: str) -> None:
    assert path(exported(symbol)) == name


@pytest.mark.parametrize(
    "allocator", ["malloc", "av_mallocz", "operator new(unsigned long)", "posix_memalign"]
)
def test_who_only_allocates_for_others_is_left_out(allocator: str) -> None:
    assert path(exported(allocator, "f")) == "f"
