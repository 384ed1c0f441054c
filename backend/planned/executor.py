"""Runs a model by plan: nothing is allocated for a frame of a geometry that was planned before."""

from __future__ import annotations

from collections import OrderedDict

import torch
from torch import nn

from backend.planned.arena import FLOAT_BYTES, Arena
from backend.planned.describe import regions
from backend.planned.helper import Helper
from backend.planned.layout import lay_out
from backend.planned.ops.base import Shape
from backend.planned.plan import Plan, run_program
from backend.planned.schedule import STRIP
from backend.planned.trace import trace
from backend.protocol import Region

PLANS = 8
"""how many geometries are remembered"""
_TALL = 256
"""rows: enough for windows of all rows that they ever have"""


class PlannedExecutor:
    """A model as a graph, its arena, and the plans of the geometries that came last.

    One arena serves all requests of a backend: only one inference runs at a time, and what is
    between layers needn't outlive it. An arena per request would take nireq times the memory. With
    `lanes` above one, each lane has windows of its own and a thread of its own.

    Raises UnsupportedLayerError for a module with a layer that can't be planned.
    """

    def __init__(self, module: nn.Module, lanes: int = 1) -> None:
        self.graph = trace(module)
        self.arena = Arena()
        self.lanes = lanes
        self._plans: OrderedDict[Shape, Plan] = OrderedDict()
        self._largest = 0
        self._helpers = [Helper() for _ in range(lanes - 1)]

    def plan(self, channels: int, height: int, width: int) -> tuple[Plan, bool]:
        """The plan for a geometry, and whether the arena grew for it.

        Raises UnusableError if the model can't take it, MemoryError if there is no room.
        """
        shape = (channels, height, width)
        plan = self._plans.get(shape)
        if plan is not None:
            self._plans.move_to_end(shape)
            return plan, False
        layout = lay_out(self.graph, shape, self.lanes)
        grew = self.arena.reserve(self._need(shape, layout.floats) * FLOAT_BYTES)
        self._largest = max(self._largest, height * width)
        plan = Plan(self.graph, layout, self.arena, self.lanes)
        self._plans[shape] = plan
        if len(self._plans) > PLANS:
            self._plans.popitem(last=False)
        return plan, grew

    def _need(self, shape: Shape, floats: int) -> int:
        """What the arena must have: enough for all geometries of no more samples than this one.

        A wide frame of few rows may need more than a larger one that is square, since windows are
        as wide as a strip. Without this reserve the arena would grow on a frame that is no record.
        """
        channels, height, width = shape
        area = height * width
        if area <= self._largest:
            return floats
        widest = min(STRIP, area)
        tall = channels, max(_TALL, area // widest), widest
        return max(floats, lay_out(self.graph, tall, self.lanes).floats)

    def run(self, plan: Plan) -> torch.Tensor:
        """Make the output of the plan's input. It stays valid until the next run."""
        for programs in plan.stages:
            for helper, program in zip(self._helpers, programs[1:], strict=True):
                helper.start(program)
            try:
                run_program(programs[0])
            finally:
                for helper in self._helpers:
                    helper.wait()
        return plan.output.tensor

    def memory_map(self) -> list[Region]:
        """Where everything lies for the geometry that came last; nothing before the first."""
        plan = next(reversed(self._plans.values()), None)
        return regions(plan.layout) if plan else []

    def close(self) -> None:
        """Let go of plans, weights and memory, and end the helpers."""
        for helper in self._helpers:
            helper.stop()
        self._helpers = []
        self._plans.clear()
        self.arena = Arena()
