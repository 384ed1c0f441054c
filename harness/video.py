"""A real video as a workload: every frame decoded before anything is measured.

Any file that PyAV decodes will do, also one whose frames change size mid-stream. A damaged file is
refused rather than measured in part, because a decoder that hits damage goes on with frames that it
made up. Damage is whatever libav tells of it: an error, a packet or frame marked corrupt, or a line
of level ERROR in its log (a GIF or JPEG cut short shows nowhere else). What libav does not notice
can't be seen here either: a stream without an index (raw H.264, MPEG-TS) cut between two frames or
in the last two bytes of one, a raw H.265 one cut anywhere. A file that holds fewer frames than it
announces gets a note only, as a file with an edit list rightly does.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING, Any

import av
import av.logging
import numpy as np
from av.stream import Disposition
from av.video.reformatter import VideoReformatter

from backend.frame import PIXEL_FORMATS
from harness.errors import UsageError
from harness.workload import MAX_FPS, Segment, Workload

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.frame import VideoFrame
    from av.video.stream import VideoStream
    from numpy.typing import NDArray

    LogLines = list[tuple[int, str, str]]
    """(level, name of what speaks, text); the lower the level, the worse"""

BUDGET_BYTES = 2 * 2**30
"""Most bytes of decoded pixels that are kept unless the caller says otherwise"""

DEFAULT_FPS = Fraction(25)
"""For a file that tells no frame rate"""

# libav's formats to go through, in order. Straight to grayf32 swscale leaves video's narrow range
# as it is (black is 16/255), while to gray it widens it: the two would not be the same picture.
_CONVERSIONS = {
    "rgb24": ("rgb24",),
    "bgr24": ("bgr24",),
    "gray8": ("gray",),
    "grayf32": ("gray", "grayf32le"),
}

# Takes any file called .txt for terminal graphics, and shows the text.
_TEXT_DEMUXER = "tty"

# Files may name others (playlists do), but a measurement must not reach out to the network.
_OPTIONS = {"protocol_whitelist": "file"}


@dataclass(frozen=True, slots=True)
class DecodedVideo:
    """The frames of a video in one pixel format, and the workload that they make up."""

    frames: tuple[NDArray[Any], ...]
    """each of the shape `PixelFormat.shape(width, height)`, with memory of its own"""
    format: str
    workload: Workload
    """a segment for each run of frames of one size, at the one frame rate of the file"""
    notes: tuple[str, ...]
    """what a reader must know of what was left out or guessed, in sentences"""


def decode(
    path: str | os.PathLike[str], format: str, budget_bytes: int = BUDGET_BYTES
) -> DecodedVideo:
    """Decode the first video stream of the file to `format`, on the calling thread alone.

    Once the frames take `budget_bytes`, the rest is left out and a note says so. On return the file
    is closed. Raises UsageError, in one line, for a file that can't be read, holds no video or is
    damaged.
    """
    name = repr(os.fspath(path))
    _require_file(path, name)
    with _libav_log() as log:
        try:
            # An absolute path, as libav takes "a:b.mp4" for a protocol.
            with av.open(os.path.abspath(path), options=_OPTIONS) as container:
                stream = _video_stream(container, name, log)
                return _read(_Decoder(container, stream, log, name), format, budget_bytes)
        except av.FFmpegError as error:
            raise UsageError(
                f"{name} is not a video that can be decoded ({_reason(error, log)}): "
                "give a video file, or a whole copy of it if it was cut short"
            ) from None


def _require_file(path: str | os.PathLike[str], name: str) -> None:
    """Raise UsageError unless the path is a file with something in it that may be read."""
    try:
        status = os.stat(path)
        if stat.S_ISREG(status.st_mode):  # to open a pipe would wait for its other end
            open(path, "rb").close()
    except FileNotFoundError:
        raise UsageError(f"{name} does not exist: check the path of the video") from None
    except PermissionError:
        raise UsageError(f"{name} may not be read: change its permissions") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{name} can't be opened ({error}): give a video file") from None
    if stat.S_ISDIR(status.st_mode):
        raise UsageError(f"{name} is a directory: give a video file in it")
    if not stat.S_ISREG(status.st_mode):
        raise UsageError(f"{name} is not a regular file: save the video to a file and give that")
    if status.st_size == 0:
        raise UsageError(f"{name} is empty: give a video file")


@contextmanager
def _libav_log() -> Iterator[LogLines]:
    """Collect libav's warnings and errors, of all threads, instead of having them printed."""
    level, skip = av.logging.get_level(), av.logging.get_skip_repeated()
    av.logging.set_level(av.logging.WARNING)
    # Else an error is swallowed that was also the last one of the file before.
    av.logging.set_skip_repeated(False)
    try:
        with av.logging.Capture(local=False) as log:
            yield log
    finally:
        av.logging.set_skip_repeated(skip)
        av.logging.set_level(level)


def _errors(lines: LogLines) -> list[str]:
    """The errors among the lines of the log, each as one line."""
    return [" ".join(line.split()) for level, _, line in lines if level <= av.logging.ERROR]


def _reason(error: av.FFmpegError, lines: LogLines) -> str:
    """The first error of the log, which tells more than the error's own text, if there is one."""
    return (_errors(lines) or [error.strerror or str(error)])[0]


def _video_stream(container: InputContainer, name: str, log: LogLines) -> VideoStream:
    """The first stream of moving pictures (the cover of a song is none), set to a single thread."""
    if container.format.name == _TEXT_DEMUXER:
        raise UsageError(f"{name} is a text: give a video file")
    for stream in container.streams.video:
        if not stream.disposition & Disposition.attached_pic:
            break
    else:
        if container.streams.audio:
            raise UsageError(f"{name} holds audio only: give a file with a video stream")
        why = f" ({_errors(log)[0]})" if _errors(log) else ""
        raise UsageError(f"{name} holds no video stream{why}: give a whole video file")
    if stream.codec_context is None:
        raise UsageError(
            f"{name}: this PyAV has no decoder for its video: encode it again, for example as H.264"
        )
    stream.codec_context.thread_count = 1
    return stream


class _Decoder:
    """The sound frames of one stream, their number so far, and libav's warnings about them."""

    def __init__(
        self, container: InputContainer, stream: VideoStream, log: LogLines, name: str
    ) -> None:
        self._container = container
        self._log = log
        self.stream = stream
        self.name = name
        self.count = 0
        self.warnings: list[str] = []

    def frames(self) -> Iterator[VideoFrame]:
        """Yield frame after frame; raises UsageError where the first damage shows."""
        packets = self._container.demux(self.stream)
        while True:
            # Lines from here on are the demuxer's and the decoder's; what the caller did with the
            # last frame (conversion warns, too) lies before.
            seen = len(self._log)
            try:
                packet = next(packets, None)
                frames = [] if packet is None else self.stream.decode(packet)
            except av.FFmpegError as error:
                raise self._broken(_reason(error, self._log[seen:])) from None
            self._judge(self._log[seen:])
            if packet is None:
                return
            for frame in frames:
                if packet.is_corrupt or frame.is_corrupt:
                    raise self._broken("a corrupt frame")
                self.count += 1
                yield frame

    def _judge(self, lines: LogLines) -> None:
        """Refuse the file for an error among the lines, and keep the warnings."""
        for error in _errors(lines):
            raise self._broken(error)
        for _, _, line in lines:
            self.warnings.append(f"after {self.count} frames: {' '.join(line.split())}")

    def _broken(self, why: str) -> UsageError:
        if self.count == 0:
            return UsageError(
                f"{self.name}: no frame of it can be decoded ({why}): give a whole copy of the file"
            )
        return UsageError(
            f"{self.name}: decoding breaks after {self.count} frames ({why}): give a whole copy, "
            f"or keep what is sound with 'ffmpeg -i FILE -frames:v {self.count} SOUND.mkv'"
        )


def _read(decoder: _Decoder, format: str, budget_bytes: int) -> DecodedVideo:
    """Convert the decoder's frames until they end or the budget does."""
    name, stream = decoder.name, decoder.stream
    rate = _frame_rate(stream)
    notes = [] if rate else [f"{name} tells no frame rate: {DEFAULT_FPS} fps is assumed."]
    reformatter = VideoReformatter()
    pictures: list[NDArray[Any]] = []
    room = budget_bytes
    for frame in decoder.frames():
        room -= PIXEL_FORMATS[format].nbytes(frame.width, frame.height)
        if room < 0:
            notes.append(_budget_note(name, len(pictures), budget_bytes))
            break
        pictures.append(_converted(reformatter, frame, format))
    else:
        if 0 < len(pictures) < stream.frames:
            notes.append(
                f"{name} announces {stream.frames} frames but gives {len(pictures)}: "
                "unless it was edited to be so, it is cut short."
            )
    if not pictures:
        raise UsageError(f"{name}: no frame of it can be decoded: give a whole copy of the file")
    if decoder.warnings:
        notes.append(f"{name}: the decoder warned {decoder.warnings[0]}.")
    return DecodedVideo(
        tuple(pictures),
        format,
        _workload(pictures, rate or DEFAULT_FPS, format, name),
        tuple(notes),
    )


def _frame_rate(stream: VideoStream) -> Fraction | None:
    """The file's frame rate; for a raw stream that of its headers, which `guessed_rate` knows."""
    for rate in (stream.guessed_rate, stream.average_rate):
        if rate is not None and 0 < rate <= MAX_FPS:
            return Fraction(rate)
    return None


def _budget_note(name: str, count: int, budget_bytes: int) -> str:
    budget = f"{budget_bytes / 2**20:g} MiB"
    if count == 0:
        raise UsageError(f"{name}: one frame takes more than {budget}: scale the video down")
    return f"Only the first {count} frames of {name} are used: they fill the budget of {budget}."


def _converted(reformatter: VideoReformatter, frame: VideoFrame, format: str) -> NDArray[Any]:
    """The frame's pixels, copied out of libav's memory, whose rows are padded."""
    for step in _CONVERSIONS[format]:
        frame = reformatter.reformat(frame, format=step, threads=1)
    return np.array(frame.to_ndarray(), order="C", copy=True)


def _workload(pictures: list[NDArray[Any]], rate: Fraction, format: str, name: str) -> Workload:
    """One segment for each run of pictures of one size."""
    try:
        return Workload(
            tuple(
                Segment(width, height, rate, sum(1 for _ in run), format)
                for (height, width), run in groupby(pictures, key=lambda pixels: pixels.shape[:2])
            )
        )
    except UsageError as error:
        raise UsageError(f"{name} can't be used: {error}; scale or shorten the video") from None
