"""Load a model, by short name, from a TorchScript file, or as it is."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TypeAlias

import torch
from torch import nn

from backend.models import SHIPPED_MODELS
from backend.planned.executor import PlannedExecutor

ModelSource: TypeAlias = "str | os.PathLike[str] | nn.Module"


class Model:
    """A model in evaluation mode on its device.

    It is called through `module(x)`, so that the forward pass is told from our own code by the
    frame of torch/nn/modules/module.py on the stack. Raises ValueError if it can't be had.
    """

    __slots__ = ("_was_training", "device", "in_channels", "module")

    def __init__(self, source: ModelSource, device: torch.device) -> None:
        module = load_module(source, device)
        # A frozen TorchScript module has no mode.
        self._was_training = [part for part in module.modules() if getattr(part, "training", False)]
        self.device = device
        self.module: nn.Module | None = module.eval().to(device)
        self.in_channels = _input_channels(module)
        """how many channels the first layer that says so takes, None if none does"""

    def plan(self, executor: str, threads: int) -> PlannedExecutor | None:
        """The executor for the choice "planned" or "auto", None where torch is to run the module.

        Raises ValueError if the choice is "planned" and the model can't be; it is closed then.
        """
        assert self.module is not None
        if executor == "torch" or (executor == "auto" and self.device.type != "cpu"):
            return None
        try:
            if self.device.type != "cpu":
                raise ValueError(f"the planned executor runs on the cpu, not on {self.device}")
            return PlannedExecutor(self.module, threads)
        except ValueError:
            if executor == "auto":
                return None
            self.close()
            raise

    def close(self) -> None:
        """Let go of the module; one that the caller handed in is put back in training mode."""
        for part in self._was_training:
            part.training = True
        self._was_training = []
        self.module = None


def load_module(source: ModelSource, device: torch.device) -> nn.Module:
    """The module that `source` means. Raises ValueError if there is none."""
    if isinstance(source, nn.Module):
        return source
    if not isinstance(source, str | os.PathLike):
        raise ValueError(
            f"model must be a name, a TorchScript file or an nn.Module, not {type(source).__name__}"
        )
    build = SHIPPED_MODELS.get(os.fspath(source))
    return build() if build else _load_file(Path(source), device)


def _load_file(path: Path, device: torch.device) -> nn.Module:
    if not path.is_file():
        raise ValueError(
            f"model {str(path)!r} is neither a file nor one of the models that ship: "
            f"{', '.join(SHIPPED_MODELS)}"
        )
    try:
        with warnings.catch_warnings():
            # torch advises against TorchScript; it is the one format that FFmpeg's backend loads,
            # and the one that runs no pickled code of the file's author in our interpreter.
            warnings.simplefilter("ignore", DeprecationWarning)
            return torch.jit.load(path, map_location=device)
    except (RuntimeError, OSError) as error:
        # torch goes on with what may have happened to the file.
        reason = str(error).strip().split("\n")[0].partition(". ")[0]
        raise ValueError(f"model {str(path)!r} is not a TorchScript file: {reason}") from error


def _input_channels(module: nn.Module) -> int | None:
    for part in module.modules():
        channels = getattr(part, "in_channels", None)
        if isinstance(channels, int):
            return channels
    return None
