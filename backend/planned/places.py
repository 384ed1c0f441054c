"""Where the rows of a value lie in the arena: all of them, or a window that moves down the frame.

Two layouts. A plane has all rows, channel after channel, as torch has them. A window has some
rows, and in each row the lines of all channels. That makes k consecutive rows of C channels a
matrix of k*C lines with one stride, with no copy: a k x k convolution of a row is k matrix
products. And rows can be appended, moved and transformed as contiguous memory.
"""

from __future__ import annotations

import torch

from backend.planned.arena import Arena


class Place:
    """A rectangle of rows and columns of all channels; strides count floats."""

    __slots__ = (
        "arena",
        "base",
        "channel_stride",
        "channels",
        "columns",
        "first_column",
        "offset",
        "row_stride",
    )

    def __init__(
        self,
        arena: Arena,
        *,
        channels: int,
        row_stride: int,
        channel_stride: int,
        offset: int,
        columns: range,
    ) -> None:
        self.arena = arena
        self.channels = channels
        self.row_stride = row_stride
        self.channel_stride = channel_stride
        self.offset = offset
        self.columns = columns
        """the columns of the frame that it holds"""
        self.first_column = columns.start
        self.base = 0
        """the row of the frame that lies first"""

    @property
    def coalesces(self) -> bool:
        """Whether all rows are one matrix of lines."""
        return self.channels == 1 or self.row_stride == self.channels * self.channel_stride

    def position(self, row: int, column: int, channel: int = 0) -> int:
        """Offset in the arena of one sample."""
        return (
            self.offset
            + (row - self.base) * self.row_stride
            + channel * self.channel_stride
            + column
            - self.first_column
        )

    def block(self, rows: range, columns: range, channels: range | None = None) -> torch.Tensor:
        """[rows, channels, columns], each with the step of its range."""
        lines = channels if channels is not None else range(self.channels)
        return self.arena.floats(
            (len(rows), len(lines), len(columns)),
            (
                rows.step * self.row_stride,
                lines.step * self.channel_stride,
                columns.step,
            ),
            self.position(rows.start, columns.start, lines.start),
        )

    def row(self, row: int, channels: range | None = None) -> torch.Tensor:
        """[channels, columns] of one row."""
        lines = channels if channels is not None else range(self.channels)
        return self.arena.floats(
            (len(lines), len(self.columns)),
            (lines.step * self.channel_stride, 1),
            self.position(row, self.columns.start, lines.start),
        )


class Plane(Place):
    """A whole value, [channels, height, width], contiguous."""

    __slots__ = ("height", "width")

    def __init__(self, arena: Arena, channels: int, height: int, width: int, offset: int) -> None:
        super().__init__(
            arena,
            channels=channels,
            row_stride=width,
            channel_stride=height * width,
            offset=offset,
            columns=range(width),
        )
        self.height, self.width = height, width

    def tensor(self, shape: tuple[int, ...]) -> torch.Tensor:
        """All of it, contiguous, in this shape."""
        stride, step = [], 1
        for size in reversed(shape):
            stride.append(step)
            step *= size
        return self.arena.floats(shape, tuple(reversed(stride)), self.offset)


class Window(Place):
    """Some rows of a strip of columns, and zeros beside them where the frame ends.

    Behind each line are `pad` columns of zeros: the right margin of this line and the left one of
    the next. The first line has its own before it.
    """

    __slots__ = ("pad", "pitch")

    def __init__(self, arena: Arena, channels: int, columns: range, pad: int, offset: int) -> None:
        self.pad = pad
        self.pitch = len(columns) + pad
        super().__init__(
            arena,
            channels=channels,
            row_stride=channels * self.pitch,
            channel_stride=self.pitch,
            offset=offset + pad,
            columns=columns,
        )

    @staticmethod
    def floats(channels: int, columns: int, pad: int, rows: int) -> int:
        """What a window of so many rows takes."""
        return pad + rows * channels * (columns + pad)

    def lines(self, row: int, rows: int, column: int, columns: int) -> torch.Tensor:
        """[rows * channels, columns]: consecutive rows as one matrix."""
        return self.arena.floats(
            (rows * self.channels, columns), (self.pitch, 1), self.position(row, column)
        )

    def group_lines(self, row: int, channels: range, column: int, columns: int) -> torch.Tensor:
        """[channels, columns] of one row."""
        return self.arena.floats(
            (len(channels), columns),
            (self.pitch, 1),
            self.position(row, column, channels.start),
        )

    def flat(self, row: int, rows: int) -> torch.Tensor:
        """[rows, all lines]: each row as one vector, from the zeros before its first line on."""
        return self.arena.floats(
            (rows, self.row_stride),
            (self.row_stride, 1),
            self.position(row, self.columns.start) - self.pad,
        )

    def margins(self, row: int, rows: int) -> torch.Tensor:
        """The zeros behind the lines of these rows."""
        return self.arena.floats(
            (rows * self.channels, self.pad),
            (self.pitch, 1),
            self.position(row, self.columns.stop),
        )

    def front(self) -> torch.Tensor:
        """The zeros before the first line."""
        return self.arena.floats((self.pad,), (1,), self.offset - self.pad)
