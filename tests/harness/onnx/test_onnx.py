"""ONNX models as targets: files, sessions that a factory makes, whose memory it is, and errors."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from backend.frame import Frame
from harness.adapt import load, open_backend
from harness.errors import UsageError
from harness.verify import verify
from tests.harness.onnx.made import write

pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

WORKLOAD = "32x24@25*20,16x12@25*12"


def test_file_is_called_with_floats_from_0_to_1(tmp_path: Path) -> None:
    backend = open_backend(load(write(tmp_path / "neg.onnx")), {})
    data = np.random.default_rng(1).integers(0, 256, (6, 4, 3)).astype(np.uint8)
    backend.execute(Frame(data))
    result = backend.get_result()
    assert np.array_equal(result, -(data.transpose(2, 0, 1)[None] / np.float32(255)))
    assert backend.get_result() is None
    backend.close()


def test_what_a_session_allocates_is_the_models(tmp_path: Path) -> None:
    report = verify(write(tmp_path / "neg.onnx"), WORKLOAD)
    assert report.verdict == "pass"
    owners = {owner for step in report.steps for owner in step.by_owner}
    assert owners == {"model"}


SESSION = """
import onnxruntime

kept = []

def open_session():
    return onnxruntime.InferenceSession("neg.onnx", providers=["CPUExecutionProvider"])

class Keeps:
    def __init__(self):
        self.session = open_session()

    def __call__(self, frame):
        kept.append(self.session.run(None, {"x": frame.data.transpose(2, 0, 1)[None] / 255}))
        return kept[-1][0]
"""


def test_session_of_a_factory_is_a_backend_and_a_leak_beside_it_is_the_backends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "neg.onnx")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        SESSION.replace("/ 255", "/ __import__('numpy').float32(255)")
    )
    assert verify("mine.py:open_session", WORKLOAD, quick=True).verdict == "pass"
    report = verify("mine.py:Keeps", WORKLOAD, quick=True)
    assert report.verdict == "fail"
    (growth,) = [rule for rule in report.rules if rule.rule == "steady-growth"]
    assert {finding.line for finding in growth.findings} == {14}


def test_what_is_no_model_is_bad_usage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = tmp_path / "bad.onnx"
    bad.write_text("no model")
    with pytest.raises(UsageError, match=r"bad.onnx is not an ONNX file: "):
        verify(str(bad), WORKLOAD, quick=True)
    with pytest.raises(UsageError, match="there is no file"):
        verify(str(tmp_path / "none.onnx"), WORKLOAD, quick=True)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(UsageError, match="run `pip install onnxruntime`"):
        load(str(bad))()
