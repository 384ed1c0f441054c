"""Names that users write and several parts read. Imports nothing: `--help` needs them too."""

from __future__ import annotations

METHODS = ("execute", "get_result", "flush", "close")
"""of the backend protocol"""
ONNX_FILES = (".onnx",)
MODEL_FILES = (".pt", ".pth", ".ts", *ONNX_FILES)
"""how the name of a file ends that is a model: TorchScript's, or ONNX"""
