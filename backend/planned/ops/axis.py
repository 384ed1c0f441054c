"""What a sliding kernel does along one axis."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Axis:
    """Kernel, stride, dilation, and the zeros before and after (negative: samples left out)."""

    kernel: int
    stride: int = 1
    dilation: int = 1
    before: int = 0
    after: int = 0

    @property
    def reach(self) -> int:
        """How many samples the kernel spans."""
        return self.dilation * (self.kernel - 1) + 1

    def size(self, size: int) -> int:
        """How many outputs an input of this size has; not positive if it is too small."""
        return (size + self.before + self.after - self.reach) // self.stride + 1

    def first(self, output: int) -> int:
        """The input under the kernel's first tap."""
        return output * self.stride - self.before

    def need(self, low: int, high: int) -> tuple[int, int]:
        """The inputs under the kernel for outputs from low up to high."""
        return self.first(low), self.first(high - 1) + self.reach
