"""Planted faults, one in each file, and beside them cases that look like one and are right.

They prove that the detector detects: `steadyframe selftest` runs them all. Each module without a
leading underscore has one declaration, FAULT or GREEN.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

from backend.faults import green
from backend.faults.fault import Fault, Green


def shipped() -> tuple[list[Fault], list[Green]]:
    """Every fault, and every case that must stay green, by name."""
    faults: list[Fault] = [
        module.FAULT for module in _modules(__name__, __path__) if hasattr(module, "FAULT")
    ]
    greens: list[Green] = [module.GREEN for module in _modules(green.__name__, green.__path__)]
    return faults, greens


def _modules(package: str, path: list[str]) -> Iterator[Any]:
    for found in pkgutil.iter_modules(path):
        if not found.name.startswith("_") and not found.ispkg:
            yield importlib.import_module(f"{package}.{found.name}")
