"""Files that are no video, or no longer a whole one: each is refused in one line that says why."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from harness.errors import UsageError
from harness.video import decode
from tests.harness.video_files import encoded, pictures, refusal


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
    cuts = range(2000, len(jumping), 61)
    for cut in cuts:
        try:
            video = decode(write(jumping[:cut]), "gray8")
        except UsageError as error:
            breaks.append(str(error))
        else:  # cut between two frames, or in the last two bytes of one: nothing to notice
            for pixels, original in zip(video.frames[:-1], whole, strict=False):
                np.testing.assert_array_equal(pixels, original)
    # Frames are larger than the distance of two cuts: nearly all are within one. How large they
    # are is the encoder's: its stream was another one once in some thousand runs.
    assert 2 * len(breaks) > len(cuts)
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
