"""Backends in C: pixels, errors in the library's words, and what is no such library."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from backend.clibrary import CLibraryBackend, CLibraryError, open_library
from backend.errors import UnusableError
from backend.frame import Frame
from tests.backend.c.compiled import compiled


@pytest.fixture
def backend(tmp_path: Path) -> CLibraryBackend:
    return open_library(compiled(tmp_path))


def make(width: int, height: int, pts: int = 0) -> Frame:
    samples = np.random.default_rng(pts).integers(0, 256, (height, width, 3))
    return Frame(samples.astype(np.uint8), pts=pts)


def test_results_are_the_librarys_at_any_size_and_stride(backend: CLibraryBackend) -> None:
    for pts, (width, height) in enumerate([(5, 3), (64, 48), (1, 1)]):
        frame = make(width, height, pts)
        mirrored = Frame(frame.data[:, ::-1], pts=pts)
        for each in (frame, mirrored):
            backend.execute(each)
            result = backend.get_result()
            assert result is not None
            assert np.array_equal(result.data, 255 - each.data)
            assert (result.pts, result.format) == (pts, "rgb24")
            assert (result.width, result.height) == (width, height)
    assert backend.get_result() is None


def test_result_is_valid_until_the_next_call_only(backend: CLibraryBackend) -> None:
    backend.execute(make(4, 4))
    result = backend.get_result()
    assert result is not None
    backend.execute(make(8, 8))
    with pytest.raises(CLibraryError, match="until the next call"):
        _ = result.data


def test_errors_are_told_in_the_words_of_the_library(backend: CLibraryBackend) -> None:
    with pytest.raises(CLibraryError, match=r"sf_execute returned -1: only samples of 8 bits"):
        backend.execute(Frame(np.zeros((2, 2), np.float32), "grayf32"))
    with pytest.raises(UnusableError, match="uint8"):
        backend.execute(Frame(np.zeros((2, 2, 3))))
    frame = make(2, 2)
    backend.execute(frame)
    result = backend.get_result()
    assert result is not None
    assert np.array_equal(result.data, 255 - frame.data)


@pytest.mark.parametrize(
    ("fault", "words"),
    [("NODATA", "2x1:rgb24, data NULL"), ("NOFORMAT", "2x1:no format")],
)
def test_result_that_is_no_picture_is_an_error(tmp_path: Path, fault: str, words: str) -> None:
    backend = open_library(compiled(tmp_path, fault))
    backend.execute(make(2, 1))
    with pytest.raises(CLibraryError, match=f"its result is no picture: {words}$"):
        backend.get_result()
    assert backend.get_result() is None


def test_close_is_final_and_may_be_called_twice(backend: CLibraryBackend) -> None:
    backend.execute(make(4, 4))
    backend.close()
    backend.close()
    assert backend.get_result() is None
    with pytest.raises(CLibraryError, match="closed"):
        backend.execute(make(4, 4))


def test_what_is_no_such_library_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "text.so"
    text.write_text("no library")
    for path, words in (
        (str(text), "can't be loaded as a library"),
        (str(tmp_path / "none.so"), "can't be loaded as a library"),
        (compiled(tmp_path, "LACKS"), "lacks sf_flush: see .*steadyframe.h"),
    ):
        with pytest.raises(ValueError, match=words):
            open_library.check(path)


def test_open_that_returns_null_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="returned NULL for the options 'none'"):
        open_library(compiled(tmp_path), options="none")
