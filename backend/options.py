"""What the reference backend's options may be."""

from __future__ import annotations

from typing import Any, get_args

import torch


def check_count(name: str, value: object) -> None:
    """Raise a ValueError for what is no whole number of at least 1."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, not {value!r}")


def check_choice(name: str, value: object, choices: Any) -> None:
    """Raise a ValueError for what is none of the choices, a `Literal`."""
    if value not in get_args(choices):
        raise ValueError(f"{name} must be one of {', '.join(get_args(choices))}, not {value!r}")


def check_device(device: object) -> torch.device:
    """The device that is meant. Raises ValueError if there is none."""
    try:
        checked = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise ValueError(f"device must be cpu or cuda, not {device!r}") from error
    if checked.type not in ("cpu", "cuda"):
        raise ValueError(f"device must be cpu or cuda, not {device!r}")
    if checked.type == "cuda" and (checked.index or 0) >= torch.cuda.device_count():
        raise ValueError(f"there is no device {device!r} here")
    return checked
