"""What happens to a request once it is submitted, on whichever thread."""

from __future__ import annotations

import sys

import torch

from backend.convert import FLOAT_BYTES, Converter, PlanarTensor, check_output
from backend.errors import frame_error
from backend.lent import LentBuffers
from backend.model import Model
from backend.planned.executor import PlannedExecutor
from backend.queues import BlockingQueue, LastLevelTask, Task
from backend.request import InferRequest
from backend.results import ResultPool, ResultSlot
from backend.stats import Counters


class Inference:
    """Runs requests, one at a time, and hands each back to the queue of idle requests.

    Only one thread is in here at a time: the caller in sync mode, the worker in async mode.
    """

    def __init__(
        self,
        model: Model,
        device: torch.device,
        idle_requests: BlockingQueue[InferRequest],
        idle_last_level_tasks: BlockingQueue[LastLevelTask],
        counters: Counters,
        planned: PlannedExecutor | None = None,
    ) -> None:
        """With `planned` the model runs by plan, without its module."""
        self.model = model
        self.planned = planned
        self.lent = LentBuffers(device, counters)
        self.results = ResultPool(counters)
        self.scratch: PlanarTensor | None = PlanarTensor(device)
        self._converter = Converter(device)
        self._idle_requests = idle_requests
        self._idle_last_level_tasks = idle_last_level_tasks
        self._counters = counters

    def serve(self, request: InferRequest, *, propagate: bool) -> None:
        """Run one request. Whatever happens, its task is done afterwards and the request idle.

        An exception becomes the error of the task. With `propagate`, one that isn't an
        `Exception` (KeyboardInterrupt, SystemExit) is raised as well.
        """
        assert request.last_level_task is not None
        task = request.last_level_task.task
        assert task is not None
        handled = sys.exception()
        try:
            slot = self._infer(request, task.pts)
            slot.is_awaited = True
            task.result = slot
        except BaseException as error:
            name, hint = self._describe(request, task), self._hint(request)
            task.error = frame_error(name, error, handled, hint)
            if propagate and not isinstance(error, Exception):
                raise
        finally:
            self._finish(request, task)

    def close(self) -> None:
        """Let go of all memory, then of the model."""
        self.results.clear()
        self.scratch = None  # not a blank one: to close takes no memory
        self.lent.clear()
        if self.planned is not None:
            self.planned.close()
        self.model.close()

    def _infer(self, request: InferRequest, pts: int) -> ResultSlot:
        if self.planned is not None:
            return self._infer_planned(self.planned, request, pts)
        self._converter.load(request.staging, request.input)
        assert self.model.module is not None
        assert self.scratch is not None
        output = self.model.module(request.input.tensor)
        pixel_format, width, height = check_output(output, request.pixel_format)
        scratch_bytes = pixel_format.channels * width * height * FLOAT_BYTES
        self._counters.growth_events += self.scratch.reserve(scratch_bytes)
        self.scratch.shape_as(pixel_format.channels, height, width)
        slot = self.results.take(pixel_format, width, height, pts)
        self._converter.store(output, self.scratch, slot.pixels)
        return slot

    def _infer_planned(
        self, planned: PlannedExecutor, request: InferRequest, pts: int
    ) -> ResultSlot:
        staging = request.staging
        plan, grew = planned.plan(request.pixel_format.channels, staging.height, staging.width)
        self._counters.growth_events += grew
        self._converter.load(staging, plan.input)
        output = planned.run(plan)
        pixel_format, width, height = check_output(output, request.pixel_format)
        slot = self.results.take(pixel_format, width, height, pts)
        # The output is ours, so that it is converted where it lies.
        self._converter.store(output, plan.output, slot.pixels)
        return slot

    def _finish(self, request: InferRequest, task: Task) -> None:
        # By now our own references to input and output are gone, also those of a traceback.
        if request.input.is_shared():
            self.replace_input(request)
        last_level_task = request.last_level_task
        assert last_level_task is not None
        request.last_level_task = None
        last_level_task.task = None
        self._idle_last_level_tasks.put(last_level_task)
        # The task before the request: once all requests are idle, all results are there.
        task.done = True
        self._idle_requests.put(request)

    def replace_input(self, request: InferRequest) -> None:
        """Leave its input to the model, which keeps it, and give the request another.

        If there is no memory even for an empty one, this is put off until the next frame, which
        needs it. The frame that was served is good, and the request must not be lost.
        """
        try:
            request.input = self.lent.exchange(request.input)
            request.is_input_kept = False
        except Exception:
            request.is_input_kept = True

    def _hint(self, request: InferRequest) -> str:
        """What the model's own error would say in its own way, if channels don't fit.

        Asked only after a failure: that a layer takes so many channels doesn't mean that the
        model does, which may convert or rearrange its input first.
        """
        wanted, given = self.model.in_channels, request.pixel_format.channels
        if wanted in (None, given):
            return ""
        name = request.pixel_format.name
        return f"the model's first layer takes {wanted} channels, {name} has {given}: "

    @staticmethod
    def _describe(request: InferRequest, task: Task) -> str:
        staging = request.staging
        return f"{staging.width}x{staging.height}:{request.pixel_format.name}, pts={task.pts}"
