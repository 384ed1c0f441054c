"""Real files through PyAV: what comes out, and what is said of files that won't do."""

from __future__ import annotations

import io
import os
import threading
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import av.logging
import numpy as np
import pytest
from numpy.typing import NDArray

from harness.errors import UsageError
from harness.video import decode
from harness.workload import Workload

LUMA = np.array([0.299, 0.587, 0.114])


def pictures(width: int, height: int, count: int) -> list[NDArray[np.uint8]]:
    random = np.random.default_rng(width)
    blocks = random.integers(0, 256, (height // 8 + 10, width // 8 + 10, 3), dtype=np.uint8)
    texture = blocks.repeat(8, axis=0).repeat(8, axis=1)
    return [
        np.ascontiguousarray(texture[i % 64 : i % 64 + height, i % 50 : i % 50 + width])
        for i in range(count)
    ]


def encoded(
    muxer: str,
    codec: str,
    pixel_format: str,
    size: tuple[int, int] = (64, 48),
    count: int = 20,
    fps: Fraction | int = 30,
    **options: str,
) -> bytes:
    """A video file in memory, without frames that refer to later ones."""
    buffer = io.BytesIO()
    with av.open(buffer, "w", format=muxer) as container:
        stream = container.add_stream(codec, rate=fps, options=options)
        assert isinstance(stream, av.VideoStream)
        stream.width, stream.height, stream.pix_fmt = *size, pixel_format
        stream.codec_context.thread_count = 1
        stream.codec_context.max_b_frames = 0
        for number, pixels in enumerate(pictures(*size, count)):
            frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
            frame.pts = number
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return buffer.getvalue()


@pytest.fixture(scope="module")
def jumping() -> bytes:
    """Two raw H.264 streams of different size, joined: the decoder changes size mid-stream."""
    return b"".join(
        encoded("h264", "libx264", "yuv420p", size, 12, fps=100) for size in [(64, 48), (98, 34)]
    )


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write_file(data: bytes, name: str = "video.bin") -> Path:
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return write_file


def refusal(path: str | Path, **options: int) -> str:
    """The message of the UsageError that decoding raises, checked to be one line with the name."""
    with pytest.raises(UsageError) as caught:
        decode(path, "rgb24", **options)
    message = str(caught.value)
    assert "\n" not in message
    assert str(path) in message
    assert ": " in message  # the remedy
    return message


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


def test_files_that_are_none(tmp_path: Path, write: Any) -> None:
    assert "does not exist" in refusal(tmp_path / "missing.mp4")
    assert "is a directory" in refusal(tmp_path)
    assert "is empty" in refusal(write(b""))
    os.mkfifo(tmp_path / "pipe")
    assert "is not a regular file" in refusal(tmp_path / "pipe")
    with pytest.raises(UsageError, match="can't be opened"):
        decode("a\0b", "rgb24")
    with pytest.raises(UsageError, match="does not exist"):
        decode("http://localhost/video.mp4", "rgb24")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(write: Any) -> None:
    path = write(b"video")
    path.chmod(0)
    assert "may not be read" in refusal(path)


def test_permission_is_told_apart_from_absence(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(b"video")

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(UsageError, match="may not be read: change its permissions"):
        decode(path, "rgb24")


@pytest.mark.parametrize("name", ["notes.txt", "notes.mp4", "notes", "notes.srt", "notes.m3u8"])
def test_text_is_no_video(write: Any, name: str) -> None:
    assert "video" in refusal(write(b"Dear diary,\nnothing moved today.\n" * 20, name))


def test_noise_is_no_video(write: Any) -> None:
    refusal(write(np.random.default_rng(0).bytes(5000), "noise.mp4"))


def test_a_playlist_does_not_reach_out_to_the_network(write: Any) -> None:
    playlist = b"#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1:9/part.ts\n#EXT-X-ENDLIST\n"
    refusal(write(playlist, "list.m3u8"))


def audio(muxer: str, cover: bool) -> bytes:
    buffer = io.BytesIO()
    with av.open(buffer, "w", format=muxer) as container:
        stream = container.add_stream("flac", rate=8000)
        assert isinstance(stream, av.AudioStream)
        stream.codec_context.layout = "mono"
        stream.codec_context.format = "s16"
        if cover:
            picture = container.add_stream("png")
            assert isinstance(picture, av.VideoStream)
            picture.width, picture.height, picture.pix_fmt = 8, 8, "rgb24"
            picture.disposition = av.stream.Disposition.attached_pic
            container.mux(picture.encode(av.VideoFrame(8, 8, "rgb24")))
            container.mux(picture.encode(None))
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 4096), np.int16), "s16", "mono")
        frame.sample_rate = 8000
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return buffer.getvalue()


@pytest.mark.parametrize("cover", [False, True])
def test_a_song_is_no_video_even_with_a_cover(write: Any, cover: bool) -> None:
    assert "holds audio only" in refusal(write(audio("flac", cover)))


def test_a_raw_stream_cut_within_a_frame_names_the_last_sound_frame(
    jumping: bytes, write: Any
) -> None:
    whole = decode(write(jumping), "gray8").frames
    breaks = []
    for cut in range(2000, len(jumping), 211):
        try:
            video = decode(write(jumping[:cut]), "gray8")
        except UsageError as error:
            breaks.append(str(error))
        else:  # cut between two frames, or in the last two bytes of one: nothing to notice
            for pixels, original in zip(video.frames[:-1], whole, strict=False):
                np.testing.assert_array_equal(pixels, original)
    assert len(breaks) > 5
    for message in breaks:
        assert "decoding breaks after " in message
        assert "-frames:v " in message


def test_the_mark_on_a_frame_is_enough_without_a_line_in_the_log(
    jumping: bytes, write: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.video._errors", lambda _: [])
    marked = []
    for cut in range(1000, len(jumping), 211):
        try:
            decode(write(jumping[:cut]), "gray8")
        except UsageError as error:
            marked.append("a corrupt frame" in str(error))
    assert sum(marked) >= 3


@pytest.mark.parametrize(
    ("muxer", "codec", "pixel_format"),
    [
        ("matroska", "ffv1", "yuv420p"),
        ("webm", "libvpx-vp9", "yuv420p"),
        ("avi", "mjpeg", "yuvj420p"),
        ("gif", "gif", "rgb8"),
    ],
)
@pytest.mark.parametrize("part", [0.6, 0.85])
def test_a_file_cut_short_is_refused(
    write: Any, muxer: str, codec: str, pixel_format: str, part: float
) -> None:
    data = encoded(muxer, codec, pixel_format, count=40)
    path = write(data[: int(len(data) * part)])
    first = refusal(path)
    assert "decoding breaks after " in first
    # The same error twice in a row: libav's log must not swallow the repetition.
    assert refusal(path) == first


def test_a_file_cut_between_two_frames_announces_more_than_it_gives(write: Any) -> None:
    data = encoded("avi", "mjpeg", "yuvj420p")
    chunk = data.index(b"movi")
    for _ in range(10):
        chunk = data.index(b"00dc", chunk + 4)
    video = decode(write(data[:chunk]), "gray8")
    assert video.workload.frame_count == 9
    (note,) = video.notes
    assert "announces 20 frames but gives 9" in note


@pytest.mark.parametrize("part", [0.3, 0.9])
def test_an_mp4_without_its_end_is_refused(write: Any, part: float) -> None:
    data = encoded("mp4", "libx264", "yuv420p")
    assert "a whole " in refusal(write(data[: int(len(data) * part)], "cut.mp4"))


def test_an_mp4_that_begins_with_its_index_and_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "fast.mp4"
    with av.open(str(path), "w", options={"movflags": "faststart"}) as container:
        stream = container.add_stream("mpeg4", rate=25)
        assert isinstance(stream, av.VideoStream)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for pixels in pictures(64, 48, 20):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode(None))
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 7 // 10])
    assert "decoding breaks after " in refusal(path)


def test_damage_in_the_middle_is_refused(write: Any) -> None:
    data = bytearray(encoded("matroska", "ffv1", "yuv420p"))
    middle = len(data) // 2
    data[middle : middle + 8] = bytes(8)
    assert "CRC mismatch" in refusal(write(bytes(data)))


def test_a_warning_of_the_decoder_is_passed_on(write: Any) -> None:
    data = encoded("image2pipe", "mjpeg", "yuvj420p", count=1)
    (note,) = decode(write(data[:-2], "cut.jpg"), "rgb24").notes
    assert "the decoder warned" in note
    assert "EOI missing" in note
