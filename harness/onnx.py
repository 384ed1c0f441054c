"""ONNX models behind the protocol: a file, or an InferenceSession of onnxruntime that was made."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from harness.errors import UsageError
from harness.source import as_tensor

if TYPE_CHECKING:
    from backend.frame import Frame


class SessionFunction:
    """A session as a function of a frame.

    Its first input gets a float32 array of [1, C, H, W], from 0 to 1; its output, or a list of
    them if there are several, is the result.
    """

    def __init__(self, session: Any) -> None:
        self._session = session
        self._input = session.get_inputs()[0].name

    def __call__(self, frame: Frame) -> Any:
        """Run the session."""
        outputs = self._session.run(None, {self._input: as_tensor(frame).numpy()})
        return outputs[0] if len(outputs) == 1 else outputs


class OnnxFile:
    """A factory: loads an ONNX file, anew each time, for one thread of the processor."""

    __module__ = ""

    def __init__(self, path: str) -> None:
        self._path = path

    def __call__(self) -> SessionFunction:
        """Raises UsageError if onnxruntime is missing or the file can't be loaded."""
        try:
            import onnxruntime
        except ModuleNotFoundError:
            raise UsageError(
                f"{self._path} needs onnxruntime: run `pip install onnxruntime`"
            ) from None
        if not os.path.isfile(self._path):
            raise UsageError(f"there is no file {self._path}")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        try:
            session = onnxruntime.InferenceSession(
                self._path, options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # its exceptions have no base class but this one
            reason = str(error).strip().split("\n")[0]
            raise UsageError(f"{self._path} is not an ONNX file: {reason}") from None
        return SessionFunction(session)


def is_session(made: Any) -> bool:
    """Whether it is a session of onnxruntime's, which is loaded if anything is one."""
    onnxruntime = sys.modules.get("onnxruntime")
    return onnxruntime is not None and isinstance(made, onnxruntime.InferenceSession)
