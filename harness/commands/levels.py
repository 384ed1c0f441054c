"""The levels of a contract, in words. Kept apart from harness.contract, which imports more."""

from __future__ import annotations

LEVELS = {
    "zero-growth": "live bytes do not grow over steady steps, and everything is released",
    "zero-owned": "also no allocation by the backend's own code on a steady step (default)",
    "zero-malloc": "no allocation by anyone in the process but the harness on a steady step",
}
