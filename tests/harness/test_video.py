"""Real files through PyAV: what comes out of those that are sound."""

from __future__ import annotations

import os
import threading
from fractions import Fraction
from pathlib import Path
from typing import Any

import av.logging
import numpy as np
import pytest

from harness.video import decode
from harness.workload import Workload
from tests.harness.video_files import encoded, pictures, refusal

LUMA = np.array([0.299, 0.587, 0.114])


def test_a_stream_that_changes_size_gives_each_frame_its_own(jumping: bytes, write: Any) -> None:
    video = decode(write(jumping), "rgb24")
    assert video.workload == Workload.parse("64x48:rgb24@100*12,98x34:rgb24@100*12")
    assert [pixels.shape for pixels in video.frames] == [(48, 64, 3)] * 12 + [(34, 98, 3)] * 12
    assert video.notes == ()
    for pixels, original in zip(video.frames, pictures(64, 48, 12), strict=False):
        # What is lost is colour: H.264 keeps it at half the resolution.
        assert abs(pixels @ LUMA - original @ LUMA).mean() < 6


@pytest.mark.parametrize(
    ("muxer", "codec", "pixel_format", "fps"),
    [
        ("mp4", "libx264", "yuv420p", Fraction(24000, 1001)),
        ("matroska", "ffv1", "yuv420p", Fraction(30)),
        ("avi", "mjpeg", "yuvj420p", Fraction(25)),
        ("mpegts", "mpeg2video", "yuv420p", Fraction(25)),
        ("webm", "libvpx-vp9", "yuv420p", Fraction(50)),
        ("yuv4mpegpipe", "rawvideo", "yuv420p", Fraction(1000)),
        ("gif", "gif", "rgb8", Fraction(10)),
    ],
)
def test_other_containers_and_codecs(
    write: Any, muxer: str, codec: str, pixel_format: str, fps: Fraction
) -> None:
    video = decode(write(encoded(muxer, codec, pixel_format, fps=fps)), "rgb24")
    assert str(video.workload) == str(Workload.parse(f"64x48:rgb24@{fps}*20"))
    assert video.notes == ()


def test_pixels_of_a_lossless_file_come_out_in_every_format(write: Any) -> None:
    path = write(encoded("matroska", "ffv1", "bgr0", size=(33, 17), count=3))
    original = pictures(33, 17, 3)
    rgb, bgr, gray, grayf = (decode(path, name) for name in ("rgb24", "bgr24", "gray8", "grayf32"))
    for number, pixels in enumerate(original):
        np.testing.assert_array_equal(rgb.frames[number], pixels)
        np.testing.assert_array_equal(bgr.frames[number], pixels[:, :, ::-1])
        luma = pixels @ LUMA
        assert abs(gray.frames[number] - luma).max() < 3
        assert abs(grayf.frames[number] * 255 - luma).max() < 3
        assert 0 <= grayf.frames[number].min() <= grayf.frames[number].max() <= 1
    assert gray.frames[0].dtype == np.uint8
    assert grayf.frames[0].dtype == np.float32
    assert grayf.workload.segments[0].format == "grayf32"


def test_frames_own_their_memory(jumping: bytes, write: Any) -> None:
    for name in ("rgb24", "gray8"):
        for pixels in decode(write(jumping), name).frames:
            assert pixels.flags.owndata
            assert pixels.flags.c_contiguous


@pytest.mark.parametrize("extension", ["png", "jpg"])
def test_a_picture_is_a_video_of_one_frame(write: Any, extension: str) -> None:
    codec, pixel_format = {"png": ("png", "rgb24"), "jpg": ("mjpeg", "yuvj420p")}[extension]
    data = encoded("image2pipe", codec, pixel_format, size=(31, 20), count=1)
    video = decode(write(data, f"shot_001.{extension}"), "rgb24")
    assert [pixels.shape for pixels in video.frames] == [(20, 31, 3)]


def test_a_frame_of_one_pixel(write: Any) -> None:
    data = encoded("image2pipe", "png", "rgb24", size=(1, 1), count=1)
    for name in ("rgb24", "gray8", "grayf32"):
        assert decode(write(data), name).frames[0].shape[:2] == (1, 1)


def test_a_name_that_looks_like_a_protocol(
    jumping: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("concat:a%03d.h264").write_bytes(jumping)
    assert decode("concat:a%03d.h264", "gray8").workload.frame_count == 24


def test_the_budget_stops_at_whole_frames_and_says_so(jumping: bytes, write: Any) -> None:
    path = write(jumping)
    first, second = 64 * 48 * 3, 98 * 34 * 3
    video = decode(path, "rgb24", budget_bytes=12 * first + 2 * second + second - 1)
    assert [segment.frames for segment in video.workload.segments] == [12, 2]
    (note,) = video.notes
    assert note.startswith("Only the first 14 frames of ")
    everything = decode(path, "rgb24", budget_bytes=12 * (first + second))
    assert everything.notes == ()
    assert len(everything.frames) == 24
    assert "one frame takes more than" in refusal(path, budget_bytes=first - 1)


def test_nothing_stays_open(jumping: bytes, write: Any) -> None:
    path, broken = write(jumping), write(jumping[:3000], "broken.h264")
    decode(path, "rgb24")
    files, threads = os.listdir("/proc/self/fd"), os.listdir("/proc/self/task")
    for _ in range(3):
        decode(path, "rgb24")
        refusal(broken)
        decode(path, "rgb24", budget_bytes=64 * 48 * 3)
    assert len(os.listdir("/proc/self/fd")) == len(files)
    assert os.listdir("/proc/self/task") == threads
    assert threading.active_count() <= len(threads)


def test_libav_is_silent_and_its_log_settings_are_left_as_they_were(
    jumping: bytes, write: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    before = av.logging.get_level(), av.logging.get_skip_repeated()
    refusal(write(jumping[:3000]))
    refusal(write(b"GIF89a" + bytes(50)))
    assert (av.logging.get_level(), av.logging.get_skip_repeated()) == before
    assert capfd.readouterr() == ("", "")
