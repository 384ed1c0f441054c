"""A state machine that uses a backend in every order, and knows what must come of it.

Its program, the calls it makes, is kept as text: that is what a failure shows, shrunk, with the
command that makes the same calls again (tests.properties.program).
"""

from __future__ import annotations

import gc
import shlex
import sys
from collections import deque
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from backend.convert import FLOAT_BYTES
from backend.errors import BackendClosedError, FrameError
from backend.frame import PIXEL_FORMATS, Frame
from backend.memory_model import Buffer, Reference
from harness.strategies import resolutions
from tests.properties.observing import held_bytes, watch
from tests.properties.rounds import PROGRAMS, ran

MAX_PIXELS = 2**10
FORMATS = ("rgb24", "gray8", "grayf32")
REPLAY = "tests.properties.program"
CALLS_APART = ", "
CONSTANTS = 8
"""bytes of the two numbers that conversions multiply by"""
BAD = {
    "format": lambda: Frame(np.zeros((2, 2), np.uint8), "yuv420p"),
    "shape": lambda: Frame(np.zeros((2, 2, 3), np.uint8), width=3),
    "type": lambda: Frame(np.zeros((2, 2, 3), np.float64)),
    "nothing": lambda: None,
}


class Moody(torch.nn.Module):  # type: ignore[misc]
    """Returns its input, but fails at the calls it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0
        self.failing: set[int] = set()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        if self.calls - 1 in self.failing:
            raise ValueError("told to fail")
        return x


class Keeping(Moody):
    """The same, and keeps its last input."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.kept = x
        return super().forward(x)


MODELS: dict[str, type[Moody]] = {"moody": Moody, "keeping": Keeping}


class Due(NamedTuple):
    """What `get_result` owes."""

    pixels: np.ndarray | None
    """None for a frame that fails"""
    slot: Buffer | None


class BackendMachine(RuleBasedStateMachine):
    """One backend at a time. `open_backend` takes model, mode and nireq."""

    open_backend: Callable[..., Any]
    program: ClassVar[list[str]] = []

    def __init__(self) -> None:
        super().__init__()
        self.backend: Any = None
        self.closed = False
        type(self).program = []
        gc.disable()  # only reference counts release anything

    def say(self, text: str) -> None:
        """A call is about to be made, and leaves things at rest only if nothing runs beside it."""
        self.program.append(text)
        self.at_rest = not self.is_async

    def rest(self) -> None:
        """Until this, what is in flight may or may not be done: that is the scheduler's to say."""
        if not self.closed:
            self.backend.flush()
        self.at_rest = True

    @initialize(
        mode=st.sampled_from(["sync", "async"]),
        nireq=st.integers(1, 4),
        model=st.sampled_from(sorted(MODELS, reverse=True)),
    )
    def open(self, mode: str, nireq: int, model: str) -> None:
        self.is_async = mode == "async"
        self.say(f"open {model} {mode} {nireq}")
        self.model = MODELS[model]()
        self.keeps = model == "keeping"
        self.backend = type(self).open_backend(model=self.model, mode=mode, nireq=nireq)
        self.nireq = nireq if self.is_async else 1
        self.predicted = Reference(self.nireq, "delay" if self.keeps else "identity")
        self.closed = False
        self.due: deque[Due] = deque()
        self.kept: list[tuple[Any, np.ndarray, Buffer | None]] = []
        self.submitted = self.good = self.returned = self.failed = 0
        self.fail_next = False
        self.largest = self.widest = self.held = 0

    @precondition(lambda self: self.backend is not None and not self.closed)
    @rule(
        geometry=resolutions(max_pixels=MAX_PIXELS),
        pixel_format=st.sampled_from(FORMATS),
        count=st.integers(1, 3),
    )
    def execute(self, geometry: tuple[int, int], pixel_format: str, count: int) -> None:
        self.say(f"execute {geometry[0]}x{geometry[1]}:{pixel_format} *{count}")
        shape = PIXEL_FORMATS[pixel_format].shape(*geometry)
        for _ in range(count):
            pixels = np.full(shape, self.submitted % 250 + 1, PIXEL_FORMATS[pixel_format].dtype)
            self.backend.execute(Frame(pixels, pixel_format, pts=self.submitted))
            self._expect(pixels, pixel_format, *geometry)
            self.submitted += 1

    def _expect(self, pixels: np.ndarray, pixel_format: str, width: int, height: int) -> None:
        fmt = PIXEL_FORMATS[pixel_format]
        self.largest = max(self.largest, fmt.nbytes(width, height))
        self.widest = max(self.widest, fmt.channels * width * height * FLOAT_BYTES)
        self.predicted.submit(fmt, width, height)
        self.good += 1
        if self.fail_next:
            self.fail_next = False
            self.due.append(Due(None, None))
            return
        busy = [slot for _, slot in self.due] + [slot for *_, slot in self.kept]
        slot = self.predicted.infer(fmt, width, height, [one for one in busy if one is not None])
        self.due.append(Due(pixels, slot))

    @precondition(lambda self: self.backend is not None and not self.closed)
    @rule()
    def fail_the_next_inference(self) -> None:
        self.say("fail next")
        self.model.failing.add(self.good)
        self.fail_next = True

    @precondition(lambda self: self.backend is not None and not self.closed)
    @rule(kind=st.sampled_from(sorted(BAD)))
    def feed_a_bad_frame(self, kind: str) -> None:
        self.say(f"bad {kind}")
        self.backend.execute(BAD[kind]())
        self.submitted += 1
        self.due.append(Due(None, None))

    @precondition(lambda self: self.backend is not None and not self.closed)
    @rule(keep=st.booleans())
    def get_result(self, keep: bool) -> None:
        self.say("get and keep" if keep else "get")
        self.rest()
        if not self.due:
            assert self.backend.get_result() is None
            return
        pixels, slot = self.due.popleft()
        if pixels is None:
            self.failed += 1
            try:
                self.backend.get_result()
            except FrameError:
                return
            raise AssertionError("a frame that failed gave no error")
        self.returned += 1
        result = self.backend.get_result()
        assert result is not None, "a finished frame gave no result"
        assert np.array_equal(result.data, pixels), f"wrong pixels for {pixels.shape}"
        assert result.pts == self.returned + self.failed - 1
        if keep:
            self.kept.append((result, pixels, slot))

    @precondition(lambda self: self.backend is not None and self.kept)
    @rule(data=st.data())
    def drop_a_result(self, data: st.DataObject) -> None:
        self.drop(data.draw(st.integers(0, len(self.kept) - 1)))

    def drop(self, number: int) -> None:
        self.say(f"drop {number}")
        self.rest()
        del self.kept[number]

    @precondition(lambda self: self.backend is not None)
    @rule()
    def flush(self) -> None:
        self.say("flush")
        self.rest()

    @precondition(lambda self: self.backend is not None)
    @rule()
    def close(self) -> None:
        """With whatever is in flight; again, if it is closed already."""
        self.say("close")
        self.backend.close()
        self.closed = True
        self.due.clear()

    @precondition(lambda self: self.closed and self.backend is not None)
    @rule()
    def use_after_close(self) -> None:
        self.say("use closed")
        assert self.backend.get_result() is None
        self.backend.flush()
        try:
            self.backend.execute(Frame(np.zeros((1, 1, 3), np.uint8)))
        except BackendClosedError:
            return
        raise AssertionError("a closed backend took a frame")

    @precondition(lambda self: self.closed and self.backend is not None)
    @rule(mode=st.sampled_from(["sync", "async"]), nireq=st.integers(1, 4))
    def reopen(self, mode: str, nireq: int) -> None:
        self._release()
        self.open(mode=mode, nireq=nireq, model="keeping" if self.keeps else "moody")

    @invariant()
    def kept_results_stay_as_they_are(self) -> None:
        if self.backend is not None:
            for result, pixels, _ in self.kept:
                assert np.array_equal(result.data, pixels), "a result that is kept has changed"

    @invariant()
    def counts_are_consistent(self) -> None:
        if self.backend is None:
            return
        stats = self.backend.stats()
        assert stats.frames_in == self.submitted
        assert stats.frames_out == self.returned
        assert stats.frames_failed == self.failed
        assert 0 <= stats.in_flight <= self.nireq
        assert stats.peak_in_flight <= self.nireq
        if not self.closed:
            room = f"room for {stats.staging_bytes} and {stats.input_bytes} bytes"
            wanted = f"the largest frames had {self.largest} and {self.widest}"
            assert set(stats.staging_bytes) == {self.largest}, f"{room}; {wanted}"
            assert set(stats.input_bytes) == {self.widest}, f"{room}; {wanted}"

    @invariant()
    def what_is_held_is_what_the_model_says(self) -> None:
        if self.backend is None or self.closed or not self.at_rest:
            return
        held = held_bytes(self.backend) - CONSTANTS
        assert held >= self.held or self.keeps, f"{self.held} bytes became {held}"
        self.held = held
        wanted = self.predicted.holding().buffer_bytes
        assert held == wanted, f"{held} bytes are held, not {wanted}"

    def teardown(self) -> None:
        failed = sys.exception()  # what ended the program, if anything did
        try:
            if self.backend is not None:
                self._release()
        except Exception as error:
            failed = failed or error
            raise
        finally:
            gc.enable()
            if failed is None:
                ran[PROGRAMS] += 1
            elif isinstance(failed, Exception):  # Hypothesis ends examples by others
                failed.add_note(self.replay())

    def replay(self) -> str:
        """The command that makes the same calls again."""
        opens = type(self).open_backend
        backend = f"{opens.__module__}:{opens.__qualname__}"
        words = ["python", "-m", REPLAY, "--backend", backend, CALLS_APART.join(self.program)]
        return f"replay: .venv/bin/{shlex.join(words)}"

    def _release(self) -> None:
        """Close, drop, and see that nothing is left: not even what the collector could free."""
        self.kept.clear()
        watched = watch(self.backend)
        self.backend.close()
        self.backend = self.model = None  # type: ignore[assignment]
        left = [type(one).__name__ for ref in watched if (one := ref()) is not None]
        assert not left, f"after close and the last reference there are {left}"
