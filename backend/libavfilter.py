"""Any filter graph of the libavfilter that PyAV is linked to, as a backend.

What runs is what ffmpeg runs: frames go into a buffer source and come out of a buffer sink. With
`dnn_processing` built in, that is FFmpeg's own inference backends. A change of size or format
mid-stream has the graph built anew, as ffmpeg does, or with `on_change="pass"` goes into the same
graph, where a filter such as scale adapts itself.
"""

from __future__ import annotations

import sys
from collections import deque
from fractions import Fraction
from typing import Any, Literal, get_args

import av
import numpy as np
from av.filter import Graph
from numpy.typing import NDArray

from backend.convert import check_frame
from backend.errors import BackendClosedError, FrameError, describe_frame, frame_error
from backend.filtergraph import FilterText, parse
from backend.frame import Frame, PixelFormat

OnChange = Literal["rebuild", "pass"]

_LIBAV_FORMATS = {"rgb24": "rgb24", "bgr24": "bgr24", "gray8": "gray", "grayf32": "grayf32le"}
_TIME_BASE = Fraction(1, 25)
_Geometry = tuple[PixelFormat, int, int]


class FilteredFrame:
    """A frame as the graph gave it. It keeps libav's own buffers as long as it is referred to."""

    __slots__ = ("_frame",)

    def __init__(self, frame: av.VideoFrame) -> None:
        self._frame = frame

    @property
    def data(self) -> NDArray[Any]:
        """The pixels, copied each time it is asked for: PyAV's `to_ndarray`."""
        pixels: NDArray[Any] = self._frame.to_ndarray()
        return pixels

    @property
    def format(self) -> str:
        """libav's name of the pixel format."""
        return str(self._frame.format.name)

    @property
    def width(self) -> int:
        """Pixels."""
        return int(self._frame.width)

    @property
    def height(self) -> int:
        """Pixels."""
        return int(self._frame.height)

    @property
    def pts(self) -> int | None:
        """That of the frame that went in, unless the graph changes it."""
        return self._frame.pts


class FilterGraphBackend:
    """One graph with one video input and one video output.

    `graph` is the text that ffmpeg's `-vf` takes. Raises ValueError for a text that is no graph, or
    names a filter that this libavfilter lacks; what its filters say of their options is known at
    the first frame.
    """

    def __init__(self, graph: str, *, on_change: OnChange = "rebuild") -> None:
        if on_change not in get_args(OnChange):
            raise ValueError(f"on_change must be rebuild or pass, not {on_change!r}")
        self._filters = _parsed(graph)
        self._on_change = on_change
        self._graph: Graph | None = None
        self._geometry: _Geometry | None = None
        self._input: _Input | None = None
        self._results: deque[FilteredFrame | FrameError] = deque()
        self._closed = False

    def execute(self, frame: Frame) -> None:
        """Push one frame through the graph. One that can't be taken raises from `get_result`."""
        if self._closed:
            raise BackendClosedError("the backend is closed: it takes no more frames")
        handled = sys.exception()
        try:
            self._push(frame)
        except Exception as error:
            self._results.append(frame_error(describe_frame(frame), error, handled))

    def _push(self, frame: Frame) -> None:
        geometry = check_frame(frame)
        if self._graph is None or (self._on_change == "rebuild" and geometry != self._geometry):
            self.flush()
            self._graph = _build(self._filters, geometry)
        self._geometry = geometry
        if self._input is None or self._input.geometry != geometry:
            self._input = _Input(geometry)
        self._graph.vpush(self._input.fill(frame))
        self._pull(self._graph)

    def _pull(self, graph: Graph) -> None:
        while True:
            try:
                pulled = graph.vpull()
            except (av.BlockingIOError, av.EOFError):
                return
            self._results.append(FilteredFrame(pulled))

    def get_result(self) -> FilteredFrame | None:
        """The next frame that came out, None if there is none. A graph may give more or fewer than
        went in."""
        if not self._results:
            return None
        result = self._results.popleft()
        if isinstance(result, FrameError):
            raise result
        return result

    def flush(self) -> None:
        """Have the graph give all that it holds back. The next frame has one built anew."""
        graph, self._graph = self._graph, None
        if graph is not None:
            graph.vpush(None)
            self._pull(graph)

    def close(self) -> None:
        """Release everything; a second call does nothing."""
        self._closed = True
        self._graph = self._input = None
        self._results.clear()


class _Input:
    """libav's frame that the pixels of each frame are copied to: made once per geometry.

    A filter may keep it. Then libav makes another one for the next frame, and so does what it does
    without us.
    """

    def __init__(self, geometry: _Geometry) -> None:
        self.geometry = geometry
        pixel_format, width, height = geometry
        self._frame = av.VideoFrame(width, height, _LIBAV_FORMATS[pixel_format.name])
        self._frame.time_base = _TIME_BASE
        self._address = 0
        self._pixels: NDArray[Any] = np.empty(0)

    def fill(self, frame: Frame) -> av.VideoFrame:
        """The frame with these pixels and this time stamp."""
        self._frame.make_writable()
        plane = self._frame.planes[0]
        if plane.buffer_ptr != self._address:
            self._address = plane.buffer_ptr
            self._pixels = _view(plane, self.geometry)
        np.copyto(self._pixels, frame.data)
        self._frame.pts = frame.pts
        return self._frame


def _view(plane: Any, geometry: _Geometry) -> NDArray[Any]:
    """The pixels of a plane, whose rows may be padded."""
    pixel_format, width, height = geometry
    rows = np.frombuffer(plane, pixel_format.dtype).reshape(height, -1)
    return rows[:, : width * pixel_format.channels].reshape(pixel_format.shape(width, height))


def _parsed(text: str) -> list[FilterText]:
    filters = parse(text)
    for part in filters:
        # With an instance's name after an @, as ffmpeg allows.
        if part.name.partition("@")[0] not in av.filter.filters_available:
            raise ValueError(f"this libavfilter has no filter {part.name!r}")
    return filters


def _build(filters: list[FilterText], geometry: _Geometry) -> Graph:
    """A configured graph. Raises ValueError for pads that fit no others, and what libav raises."""
    pixel_format, width, height = geometry
    try:
        return _configured(filters, geometry)
    except av.ArgumentError:
        # libav's own words are in its log, which goes nowhere: "Invalid argument" is all it tells.
        raise ValueError(
            f"libavfilter takes no such graph for frames of {width}x{height}:{pixel_format.name} "
            "(Invalid argument): see that each filter's values fit them, that it has one input and "
            "one output for video (no audio), and that no others are left open"
        ) from None


def _configured(filters: list[FilterText], geometry: _Geometry) -> Graph:
    pixel_format, width, height = geometry
    graph = Graph()
    named = av.VideoFormat(_LIBAV_FORMATS[pixel_format.name], width, height)
    source = graph.add_buffer(width=width, height=height, format=named, time_base=_TIME_BASE)
    sink = graph.add("buffersink")
    made = [graph.add(part.name.partition("@")[0], part.arguments or None) for part in filters]
    linked = _Linking(source, sink)
    for part, context in zip(filters, made, strict=True):
        linked.add(part, context)
    linked.finish()
    graph.configure()
    return graph


class _Linking:
    """Links pads by label, by neighbourhood, and what is left to the graph's two ends."""

    def __init__(self, source: Any, sink: Any) -> None:
        self._source = (source, 0)
        self._sink = (sink, 0)
        self._before: tuple[Any, int] | None = None
        """the unlabelled output of the filter before"""
        self._outputs: dict[str, tuple[Any, int]] = {}
        self._inputs: dict[str, tuple[Any, int]] = {}
        self._open_outputs: list[tuple[Any, int]] = []
        self._open_inputs: list[tuple[Any, int]] = []

    def add(self, part: FilterText, context: Any) -> None:
        """Take in the pads of the next filter of the text."""
        self._inputs |= {label: (context, pad) for pad, label in enumerate(part.inputs)}
        before = [self._before] if self._before else []
        if part.follows and before:
            _link(before[0], (context, len(part.inputs)))
        else:
            self._open_outputs += before
            if not part.inputs:
                self._open_inputs.append((context, 0))
        self._outputs |= {label: (context, pad) for pad, label in enumerate(part.outputs)}
        self._before = None if part.outputs else (context, 0)

    def finish(self) -> None:
        """Link what is named twice, and the two ends: unlabelled, or labelled `in` and `out`."""
        for label in self._outputs.keys() & self._inputs.keys():
            _link(self._outputs.pop(label), self._inputs.pop(label))
        self._open_outputs += [self._before] if self._before else []
        _link(self._source, _only([*self._inputs.values(), *self._open_inputs], "input"))
        _link(_only([*self._outputs.values(), *self._open_outputs], "output"), self._sink)


def _only(pads: list[tuple[Any, int]], what: str) -> tuple[Any, int]:
    if len(pads) != 1:
        raise ValueError(f"the filter graph must have one open {what}, not {len(pads)}")
    return pads[0]


def _link(output: tuple[Any, int], pad: tuple[Any, int]) -> None:
    output[0].link_to(pad[0], output[1], pad[1])


class FilterGraphFactory:
    """Opens any graph: the target `libavfilter:GRAPH`."""

    def __call__(self, graph: str, on_change: OnChange = "rebuild") -> FilterGraphBackend:
        """Open a backend; errors are those of `FilterGraphBackend`."""
        return FilterGraphBackend(graph, on_change=on_change)

    def check(self, graph: str) -> None:
        """Raises ValueError for a text that is no graph of this libavfilter."""
        _parsed(graph)


open_graph = FilterGraphFactory()
