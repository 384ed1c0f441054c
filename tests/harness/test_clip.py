"""The clip of `make report`: one stream, four sizes in turn, the frames that were encoded."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import av
import numpy as np
import pytest

import harness.clip
from harness.clip import CLIP, make_clip
from harness.errors import UsageError
from harness.source import synthetic_source
from harness.video import DecodedVideo, decode
from harness.workload import Workload


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clip") / "clip.h264"
    make_clip(path)
    return path


def test_the_decoder_changes_size_mid_stream_at_100_fps(clip: Path) -> None:
    video = decode(clip, "rgb24")
    assert str(video.workload) == (
        "128x128:rgb24@100*50,256x256:rgb24@100*50,128x128:rgb24@100*50,320x180:rgb24@100*50"
    )
    assert video.notes == ()


def test_each_decoded_frame_is_nearest_to_the_one_encoded_in_its_place(clip: Path) -> None:
    video = decode(clip, "gray8")
    first = 0
    for number, segment in enumerate(CLIP.segments):
        source = synthetic_source(Workload((segment,)), "rgb24", seed=number)
        originals = np.stack(
            [
                np.asarray(source.frame(n).data) @ [0.299, 0.587, 0.114]
                for n in range(segment.frames)
            ]
        )
        decoded = np.stack(video.frames[first : first + segment.frames])
        for n, pixels in enumerate(decoded):
            distances = abs(originals - pixels).mean(axis=(1, 2))
            # The texture's window comes round after 16 frames, but for one sample.
            assert distances.argmin() % 16 == n % 16
        first += segment.frames


def test_the_segments_of_one_size_differ_and_every_frame_moves(clip: Path) -> None:
    frames = decode(clip, "gray8").frames
    assert abs(frames[0].astype(int) - frames[100]).mean() > 20
    for one, other in pairwise(frames):
        assert one.shape != other.shape or abs(one.astype(int) - other).mean() > 5


def test_the_bytes_are_the_same_on_every_call(clip: Path, tmp_path: Path) -> None:
    make_clip(tmp_path / "again.h264")
    assert (tmp_path / "again.h264").read_bytes() == clip.read_bytes()


def test_it_replaces_what_is_there_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "clip.h264"
    path.write_bytes(b"old")
    make_clip(path)
    assert path.stat().st_size > 10_000
    assert list(tmp_path.iterdir()) == [path]


def test_a_clip_that_decodes_to_something_else_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = DecodedVideo((), "rgb24", Workload.parse("8x8:rgb24@25*3"), ())
    monkeypatch.setattr(harness.clip, "decode", lambda *_: wrong)
    path = tmp_path / "clip.h264"
    path.write_bytes(b"old")
    with pytest.raises(UsageError, match="gave 8x8:rgb24@25"):
        make_clip(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_another_encoder_is_tried_and_the_lack_of_all_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []

    def fail(encoder: str, number: int) -> bytes:
        tried.append((encoder, number))
        raise av.FFmpegError(1, "no such device")

    monkeypatch.setattr(harness.clip, "_encode", fail)
    monkeypatch.setattr(harness.clip, "_ENCODERS", ("libx264", "h264_of_nobody", "libx264rgb"))
    with pytest.raises(UsageError, match=r"libx264: no such device; libx264rgb: no such device"):
        make_clip(tmp_path / "clip.h264")
    assert tried == [("libx264", 0), ("libx264rgb", 0)]
    assert not list(tmp_path.iterdir())


def test_a_path_that_can_not_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_bytes(b"")
    for path in (tmp_path, tmp_path / "missing" / "clip", tmp_path / "file" / "clip"):
        assert harness.clip.main([str(path)]) == 2
        message = capsys.readouterr().err
        assert message.count("\n") == 1
        assert "can't be written" in message
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_module_runs_by_itself(tmp_path: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "harness.clip", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    done = run(str(tmp_path / "clip.h264"))
    assert done.returncode == 0
    assert "200 frames, 128x128@100*50,256x256@100*50" in done.stdout
    assert (tmp_path / "clip.h264").exists()
    assert run().returncode == 2
