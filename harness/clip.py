"""The H.264 clip of `make report`: one raw stream in which the decoder itself changes size.

Four streams are encoded and joined byte for byte. FFmpeg's command line would rebuild its filter
graph at each change; whoever decodes this file frame by frame hands the jump on to the backend.

Run as `python -m harness.clip PATH`.
"""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from pathlib import Path

import av
import numpy as np

from backend.frame import Frame
from harness.errors import UsageError
from harness.source import synthetic_source
from harness.video import decode
from harness.workload import Workload

CLIP = Workload.parse("128x128@100*50,256x256@100*50,128x128@100*50,320x180@100*50")

_SEED = 0

# The software encoders first: they give the same bytes everywhere.
_ENCODERS = (
    "libx264",
    "libopenh264",
    "h264_nvenc",
    "h264_qsv",
    "h264_amf",
    "h264_videotoolbox",
    "h264_mf",
    "h264_v4l2m2m",
)


def make_clip(path: str | os.PathLike[str]) -> None:
    """Write the clip to `path`, whole or not at all.

    With libx264 the bytes are the same on every call. Raises UsageError if no encoder can make it
    or the file can't be written.
    """
    data = _encode_clip()
    target = Path(path)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.write_bytes(data)
        _require_sound(part)
        part.replace(target)
    except OSError as error:
        raise UsageError(
            f"the clip can't be written to {os.fspath(path)!r} ({error.strerror}): "
            "give a file in a folder that exists and may be written to"
        ) from None
    finally:
        # Nothing to remove if the folder is none: nothing was written then.
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _encode_clip() -> bytes:
    """The clip from the first encoder that works."""
    failures = []
    for encoder in _ENCODERS:
        if encoder not in av.codecs_available:
            continue
        try:
            return b"".join(_encode(encoder, number) for number in range(len(CLIP.segments)))
        except av.FFmpegError as error:
            failures.append(f"{encoder}: {error.strerror or error}")
    raise UsageError(
        f"no H.264 encoder of this PyAV works ({'; '.join(failures) or 'it has none'}): install "
        "PyAV from its wheel, which brings libx264, or give a video of your own with --video"
    )


def _encode(encoder: str, number: int) -> bytes:
    """Segment `number` of the clip as a raw Annex-B stream of its own."""
    segment = CLIP.segments[number]
    # A seed of its own, so that the two segments of one size differ.
    source = synthetic_source(Workload((segment,)), "rgb24", _SEED + number)
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="h264") as container:
        stream = container.add_stream(encoder, rate=segment.fps)
        assert isinstance(stream, av.VideoStream)
        stream.width, stream.height, stream.pix_fmt = segment.width, segment.height, "yuv420p"
        context = stream.codec_context
        # Without frames that refer to later ones, what comes out is what went in, in its order,
        # at once; on several threads the encoder's decisions, so the bytes, would vary.
        context.max_b_frames = 0
        context.thread_count = 1
        for index in range(segment.frames):
            container.mux(stream.encode(_video_frame(source.frame(index))))
        container.mux(stream.encode(None))
    return buffer.getvalue()


def _video_frame(frame: Frame) -> av.VideoFrame:
    video_frame = av.VideoFrame.from_ndarray(np.asarray(frame.data, np.uint8), format=frame.format)
    video_frame.pts = frame.pts
    return video_frame


def _require_sound(path: Path) -> None:
    """Decode what was encoded: an encoder may leave the rate out, or drop frames."""
    workload = decode(path, "rgb24").workload
    if workload != CLIP.with_format("rgb24"):
        raise UsageError(
            f"the H.264 encoder of this PyAV gave {workload} for {CLIP}: "
            "give a video of your own with --video"
        )


def main(arguments: list[str]) -> int:
    """Write the clip to the one path given; returns the exit code, 2 for bad usage."""
    if len(arguments) != 1:
        print("usage: python -m harness.clip PATH", file=sys.stderr)
        return 2
    try:
        make_clip(arguments[0])
    except UsageError as error:
        print(f"harness.clip: {error}", file=sys.stderr)
        return 2
    print(f"{arguments[0]}: {CLIP.frame_count} frames, {CLIP}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
