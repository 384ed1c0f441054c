"""Digests: equal for equal results, different for any difference, and silent about neither."""

from __future__ import annotations

import subprocess
import sys
from array import array
from collections import deque
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from backend.frame import Frame
from harness.digest import Digest, NoneReturned, digest

PIXELS = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)


def key(result: Any) -> tuple[bytes, bytes]:
    made = digest(result)
    assert made.comparable, made.text
    return made.structure, made.content


SAME: list[tuple[Any, Any]] = [
    (PIXELS, PIXELS.copy()),
    (PIXELS[:, ::-1], PIXELS[:, ::-1].copy()),
    (PIXELS.T, np.ascontiguousarray(PIXELS.T)),
    (np.float32(3), np.array(3, np.float32)),
    (np.array([np.nan]), np.array([np.nan])),
    ([PIXELS, 1], [PIXELS.copy(), 1]),
    ({"a": 1, "b": PIXELS}, {"b": PIXELS.copy(), "a": 1}),
    (torch.ones(2, 3).t(), torch.ones(3, 2)),
    (torch.ones(2, requires_grad=True), torch.ones(2)),
    (torch.tensor([1 + 2j]).conj(), torch.tensor([1 - 2j])),
    (Frame(PIXELS, pts=1), Frame(PIXELS.copy(), pts=2)),
    (memoryview(b"abc"), bytearray(b"abc")),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_equal_results_have_equal_digests(one: Any, other: Any) -> None:
    assert key(one) == key(other)


changed = PIXELS.copy()
changed[1, 3, 2] ^= 1
OTHER_NAN = np.array([np.nan]).view(np.uint64) | 1
DIFFERENT: list[tuple[Any, Any]] = [
    (PIXELS, changed),
    (PIXELS, PIXELS.reshape(4, 2, 3)),
    (PIXELS, PIXELS.astype(np.int8)),
    (PIXELS, torch.from_numpy(PIXELS)),
    (np.array([np.nan]), OTHER_NAN.view(np.float64)),
    (np.array([0.0]), np.array([-0.0])),
    ([0.0], [-0.0]),
    ([PIXELS], (PIXELS,)),
    ([1, [2]], [[1], 2]),
    (["ab", "c"], ["a", "bc"]),
    ([1], [True]),
    ({"a": PIXELS}, {"b": PIXELS}),
    (np.empty((0, 3)), np.empty((3, 0))),
    (np.array(1), np.array([1])),
    (np.array([1], "<i4"), np.array([1 << 24], ">i4")),
    (torch.tensor(1.0), torch.tensor(1.0, dtype=torch.bfloat16)),
    (torch.tensor([1.0], dtype=torch.bfloat16), torch.tensor([1.01], dtype=torch.bfloat16)),
    (Frame(PIXELS), Frame(PIXELS, "bgr24")),
    (Frame(PIXELS), Frame(PIXELS, width=5)),
    (Frame(PIXELS), PIXELS),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_results_have_different_digests(one: Any, other: Any) -> None:
    assert key(one) != key(other)


class Raises:
    @property
    def data(self) -> Any:
        raise RuntimeError("not yours")


endless: list[Any] = []
endless.append(endless)
INCOMPARABLE: list[tuple[Any, str]] = [
    (object(), "type object"),
    (NoneReturned(), "is a `return` missing?"),
    (3, "type int"),
    ("text", "type str"),
    (deque([PIXELS]), "collections.deque"),
    (np.array([object()]), "Python objects"),
    (torch.eye(2).to_sparse(), "sparse_coo"),
    (torch.empty(2, device="meta"), "meta"),
    ([PIXELS, object()], "type object"),
    ({object(): 1}, "keys"),
    (Raises(), "RuntimeError"),
    (endless, "contains itself"),
]


@pytest.mark.parametrize(("result", "why"), INCOMPARABLE)
def test_what_has_no_value_is_not_compared_and_says_so(result: Any, why: str) -> None:
    made = digest(result)
    assert not made.comparable
    assert why in made.text


def pts_of(value: Any) -> Digest:
    return digest(SimpleNamespace(data=PIXELS, pts=value))


def test_pts_are_told_apart_from_content() -> None:
    assert pts_of(7).pts == 7
    assert pts_of(7)[:3] == pts_of(8)[:3]
    assert [pts_of(odd).pts for odd in (None, 1.5, True, 1 << 80)] == [None] * 4


def test_the_structure_is_said_in_words() -> None:
    assert digest(Frame(PIXELS)).text == "Frame rgb24 4x2 of uint8 (2, 4, 3)"
    assert digest([torch.ones(2)]).text == "list (tensor float32 (2,))"


def test_every_array_is_handed_out() -> None:
    seen: list[Any] = []
    digest([PIXELS, {"a": torch.ones(3)}], seen.append)
    assert [each.shape for each in seen] == [(2, 4, 3), (3,)]


def test_torch_is_not_imported_for_an_array() -> None:
    code = (
        "import sys, numpy\nfrom harness.digest import digest\n"
        "assert digest([numpy.ones(3)]).comparable\nassert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_digest_leaves_no_memory() -> None:
    results = [Frame(PIXELS[:, ::-1], pts=9), [torch.ones(5, dtype=torch.bfloat16)]]
    counts = array("q", [0] * 300)
    for n in range(300):
        for result in results:
            digest(result)
        counts[n] = sys.getallocatedblocks()
    # What the interpreter keeps for reuse is full after a while.
    assert counts[299] - counts[199] <= 5


def test_a_result_that_can_not_be_read_says_what_it_raises() -> None:
    class Unreadable:
        @property
        def data(self) -> Any:
            raise OSError

    class NoFormat:
        data = np.zeros(3)

        @property
        def format(self) -> Any:
            raise OSError

    made = digest(Unreadable())
    assert (made.comparable, made.readable) == (False, False)
    assert made.text == "a result whose data raises OSError"
    made = digest([NoFormat()])
    assert (made.comparable, made.readable) == (False, True)
    assert made.text == "a result that raises OSError when it is read"
