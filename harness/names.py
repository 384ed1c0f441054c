"""Names that users write and several parts read. Imports nothing: `--help` needs them too."""

from __future__ import annotations

METHODS = ("execute", "get_result", "flush", "close")
"""of the backend protocol"""
MODEL_FILES = (".pt", ".pth", ".ts")
"""how the name of a TorchScript file ends"""
