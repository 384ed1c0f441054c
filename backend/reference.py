"""The reference backend: FFmpeg's LibTorch DNN backend as it should be, in Python."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal

import torch

from backend import memory_model
from backend.convert import FLOAT_BYTES, check_frame
from backend.errors import BackendClosedError, FrameError, describe_frame, frame_error
from backend.frame import Frame
from backend.inference import Inference
from backend.model import Model, ModelSource
from backend.options import check_choice, check_count, check_device
from backend.protocol import Region, Shape
from backend.queues import BlockingQueue, LastLevelTask, TaskQueue
from backend.request import InferRequest
from backend.stats import BackendStats, Counters
from backend.worker import Worker

Mode = Literal["sync", "async"]
Executor = Literal["torch", "planned", "auto"]


class TorchBackend:
    """Video inference with a pool of requests and no allocation per frame.

    `model` is the short name of one that ships, a TorchScript file, or an `nn.Module` (used in
    place, in evaluation mode until `close`). In async mode `nireq` requests are served in turn by
    one worker thread. In sync mode an inference runs within `execute`, so that one request is
    all that can ever be used: `nireq` is 1 then, whatever was asked for. `threads` is torch's
    number of threads per operation, a setting of the whole process, restored by `close`; with
    more than one, torch itself allocates when it divides the work.

    Requests take turns, whatever the scheduler does: of the frames that could be taken, number n,
    from 0, is served by request n mod `nireq`.

    `executor` is how the model runs: "torch" calls it, as FFmpeg does; "planned" makes a plan for
    each geometry and follows it without any allocation (see `backend.planned`), with the weights as
    they are now and `threads` threads of its own; "auto" is planned if all layers can be.

    The methods are called from one thread. Results are frames that belong to the consumer as
    long as it refers to them, or to any part of their memory, even after `close`.

    Raises ValueError for an option that makes no sense or a model that can't be had.
    """

    def __init__(
        self,
        model: ModelSource = "small",
        *,
        nireq: int = 4,
        mode: Mode = "sync",
        device: str | torch.device = "cpu",
        threads: int = 1,
        executor: Executor = "torch",
    ) -> None:
        check_count("nireq", nireq)
        check_count("threads", threads)
        check_choice("mode", mode, Mode)
        check_choice("executor", executor, Executor)
        checked_device = check_device(device)
        loaded = Model(model, checked_device)
        planned = loaded.plan(executor, threads)

        self.nireq = nireq if mode == "async" else 1
        self._counters = Counters()
        self._tasks = TaskQueue(self.nireq)
        self._last_level_tasks: BlockingQueue[LastLevelTask] = BlockingQueue(self.nireq)
        self._idle_last_level_tasks: BlockingQueue[LastLevelTask] = BlockingQueue(self.nireq)
        self._pending: BlockingQueue[InferRequest] = BlockingQueue(self.nireq)
        self._idle_requests: BlockingQueue[InferRequest] = BlockingQueue(self.nireq)
        own_input = planned is None
        self._pool = [InferRequest(checked_device, own_input=own_input) for _ in range(self.nireq)]
        for request in self._pool:
            self._idle_requests.put(request)
            self._idle_last_level_tasks.put(LastLevelTask())
        self._inference = Inference(
            loaded,
            checked_device,
            self._idle_requests,
            self._idle_last_level_tasks,
            self._counters,
            planned,
        )
        # Not inference mode: to enter it costs a malloc each time, and sync mode must enter and
        # leave on every frame; a no_grad object can be used again and costs none.
        self._no_grad = torch.no_grad()
        self._closed = False
        self._released = False
        self._threads_before = torch.get_num_threads()
        torch.set_num_threads(threads if planned is None else 1)
        self._worker: Worker | None = None
        if mode == "async":
            self._start_worker()

    def _start_worker(self) -> None:
        worker = Worker(self._pending, self._inference)
        try:
            worker.start()
        except RuntimeError:
            self.close()
            raise
        self._worker = worker

    def execute(self, frame: Frame) -> None:
        """Submit one frame. Blocks while all requests are in flight.

        A frame that can't be taken, or fails later, doesn't raise here but from `get_result`, at
        its turn. Raises BackendClosedError after `close`.
        """
        if self._closed:
            raise BackendClosedError("the backend is closed: it takes no more frames")
        request = self._idle_requests.get()
        assert request is not None
        counters = self._counters
        counters.frames_in += 1
        in_flight = self.nireq - len(self._idle_requests)
        counters.peak_in_flight = max(counters.peak_in_flight, in_flight)
        task = self._tasks.begin()
        handled = sys.exception()
        try:
            self._fill(request, frame)
            task.pts = frame.pts
        except BaseException as error:
            task.error = frame_error(describe_frame(frame), error, handled)
            task.done = True
            self._idle_requests.put_back(request)
            if not isinstance(error, Exception):
                raise
            return
        last_level_task = self._idle_last_level_tasks.get()
        assert last_level_task is not None
        last_level_task.task = task
        self._last_level_tasks.put(last_level_task)
        self._submit(request)

    def _fill(self, request: InferRequest, frame: Frame) -> None:
        pixel_format, width, height = check_frame(frame)
        staging_bytes = pixel_format.nbytes(width, height)
        input_bytes = pixel_format.channels * width * height * FLOAT_BYTES
        if self._inference.planned is not None:
            input_bytes = 0  # it is in the arena
        if not request.has_room(staging_bytes, input_bytes):
            self._grow(staging_bytes, input_bytes)
        request.stage(frame, pixel_format, width, height)

    def _grow(self, staging_bytes: int, input_bytes: int) -> None:
        """Grow the buffers of all requests at once. Raises MemoryError.

        If each grew when its own turn came, growth would fall on frames that are no larger than
        those before. The others are waited for, since theirs is not to be touched in flight.
        """
        self._idle_requests.wait_for(self.nireq - 1)
        for request in self._pool:
            if request.is_input_kept:
                self._inference.replace_input(request)
            if request.is_input_kept:
                raise MemoryError("cannot replace an input that the model keeps")
            self._counters.growth_events += request.reserve(staging_bytes, input_bytes)
        self._inference.lent.reserve(input_bytes)

    def _submit(self, request: InferRequest) -> None:
        request.last_level_task = self._last_level_tasks.get()
        if self._worker is not None:
            self._pending.put(request)
            return
        with self._no_grad:
            self._inference.serve(request, propagate=True)

    def get_result(self) -> Frame | None:
        """The next finished frame in the order of submission, None when it isn't ready.

        Raises FrameError for a frame that failed, at its turn; the next call goes on behind it.
        """
        task = self._tasks.pop_done()
        if task is None:
            return None
        outcome = task.collect()
        if not isinstance(outcome, FrameError):
            self._counters.frames_out += 1
            return outcome
        self._counters.frames_failed += 1
        try:
            raise outcome
        finally:
            del outcome  # else the error, its traceback and this call would be a reference cycle

    def flush(self) -> None:
        """Wait until nothing is in flight. The results stay available to `get_result`."""
        if not self._closed:
            self._idle_requests.wait_for(self.nireq)

    def stats(self) -> BackendStats:
        """The counts and sizes of this moment."""
        counters, inference = self._counters, self._inference
        return BackendStats(
            frames_in=counters.frames_in,
            frames_out=counters.frames_out,
            frames_failed=counters.frames_failed,
            in_flight=0 if self._released else self.nireq - len(self._idle_requests),
            peak_in_flight=counters.peak_in_flight,
            input_bytes=tuple(request.input.buffer.capacity for request in self._pool),
            staging_bytes=tuple(request.staging.buffer.capacity for request in self._pool),
            growth_events=counters.growth_events,
            retained_inputs=counters.retained_inputs,
            lent_buffers=len(inference.lent),
            scratch_bytes=inference.scratch.buffer.capacity if inference.scratch else 0,
            arena_bytes=inference.planned.arena.capacity if inference.planned else 0,
            result_slots=len(inference.results),
            result_bytes=inference.results.nbytes,
        )

    def memory_map(self) -> list[Region]:
        """Where everything lies in the arena of a planned model; nothing of another."""
        planned = self._inference.planned
        return planned.memory_map() if planned else []

    def close(self) -> None:
        """Release everything; a second call does nothing.

        The inference that is running is finished; frames that wait for theirs, and results that
        nobody collected, are dropped.
        """
        if self._released:
            return
        self._closed = True
        if self._worker is not None:
            self._worker.stop()
            self._worker = None
        # Nothing but this thread is left now.
        for request in self._pending.drain():
            request.last_level_task = None
        self._idle_requests.drain()
        self._pool.clear()
        self._last_level_tasks.drain()
        self._idle_last_level_tasks.drain()
        self._tasks.drain()
        self._inference.close()
        torch.set_num_threads(self._threads_before)
        self._released = True

    def __enter__(self) -> TorchBackend:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        # Dropped without `close`: at least the worker ends. It isn't waited for: it may be the
        # very thread that this runs on.
        pending = getattr(self, "_pending", None)
        if pending is not None:
            pending.close()


@dataclass(frozen=True)
class ReferenceFactory:
    """Opens the reference backend with one of the shipped models, unless told another."""

    model: str
    formats: tuple[str, ...]
    """the pixel formats that the model takes, its natural one first"""
    stateful: bool = False
    """the model's output depends on frames before: the harness must not compare frame by frame"""
    executor: Executor = "torch"

    def __call__(self, **options: Any) -> TorchBackend:
        """Open a backend; the options are those of `TorchBackend`."""
        return TorchBackend(**self._given(options))

    @property
    def __signature__(self) -> inspect.Signature:
        """What `inspect` is told that it takes: a wrong option is refused before it is opened."""
        its, given = inspect.signature(TorchBackend), self._given({})
        told = [p.replace(default=given.get(p.name, p.default)) for p in its.parameters.values()]
        return its.replace(parameters=told)

    def expected_blocks(
        self, steps: Sequence[Sequence[Shape]], **options: Any
    ) -> Iterator[list[int]] | None:
        """Bytes of each block held after each step; of torch on the CPU with a shipped model."""
        bound = inspect.signature(self).bind(**options)
        bound.apply_defaults()
        chosen = bound.arguments
        model, nireq = chosen["model"], chosen["nireq"] if chosen["mode"] == "async" else 1
        where = chosen["executor"], str(chosen["device"])
        if model not in memory_model.SCALES or where != ("torch", "cpu"):
            return None
        return memory_model.blocks(steps, model, nireq)

    def _given(self, options: dict[str, Any]) -> dict[str, Any]:
        return {"model": self.model, "executor": self.executor, **options}


_RGB = ("rgb24", "bgr24")
_LUMA = ("gray8", "grayf32")

open_small = ReferenceFactory("small", _RGB)
open_espcn = ReferenceFactory("espcn", _LUMA)
open_srcnn = ReferenceFactory("srcnn", _LUMA)
open_dncnn = ReferenceFactory("dncnn", _LUMA)
open_identity = ReferenceFactory("identity", _RGB + _LUMA)
open_delay = ReferenceFactory("delay", _RGB + _LUMA, stateful=True)
open_planned = ReferenceFactory("espcn", _LUMA, executor="planned")
open_reference = open_small
