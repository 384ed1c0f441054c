"""Where counts were measured, as far as they depend on it.

A count of zero is claimed of every place. What a backend's own buffers take depends on the
versions of what it is written in. All other counts, those of native kernels above all, depend on
the instructions that the processor has and on the number of threads, too: oneDNN chooses its
kernels by them. The processor's name is kept beside: where kernels choose by the size of a cache,
two with the same instructions may differ.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Needs = Literal["nothing", "versions", "kernels"]
"""what a count depends on; each includes the ones before"""

_MOST = 400
"""characters of one value"""


class Fingerprint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One environment of measured processes."""

    versions: dict[str, str]
    kernels: dict[str, str]
    processor: str = ""

    def meets(self, other: Fingerprint, needs: Needs) -> bool:
        """Whether a count that needs so much, measured there, can be expected here."""
        if needs == "nothing":
            return True
        if needs == "versions":
            return self.versions == other.versions
        return self.versions == other.versions and self.kernels == other.kernels

    def differences(self, other: Fingerprint) -> list[str]:
        """Fields in which this one differs, as `torch 2.13.0 (recorded: 2.12.0)`."""
        pairs = ((self.versions, other.versions), (self.kernels, other.kernels))
        return [
            f"{name} {here.get(name, 'none')} (recorded: {there.get(name, 'none')})"
            for here, there in pairs
            for name in sorted({*here, *there})
            if here.get(name) != there.get(name)
        ]

    def __str__(self) -> str:
        words = [f"{name} {value}" for name, value in {**self.versions, **self.kernels}.items()]
        return ", ".join(words + ([self.processor] if self.processor else []))


def fingerprint(environment: dict[str, Any]) -> Fingerprint:
    """The fingerprint of a report's environment."""
    torch, _, build = str(environment.get("torch", "none")).partition("+")
    python = ".".join(str(environment.get("python", "")).split(".")[:2])
    named = {name: environment.get(name, "none") for name in ("allocator", "libc", "machine")}
    versions = {
        "python": python,
        "torch": torch,
        **{name: environment.get(name, "none") for name in ("numpy", "memray")},
        **named,
    }
    variables = environment.get("variables", {})
    kernels = {
        "cpu_capability": environment.get("cpu_capability", "none"),
        "torch_build": build or "none",
        "torch_threads": environment.get("torch_threads", "none"),
        "variables": " ".join(
            f"{name}={value}" for name, value in variables.items() if name not in _WITHOUT_EFFECT
        ),
    }
    return Fingerprint(
        {name: str(value)[:_MOST] for name, value in versions.items()},
        {name: str(value)[:_MOST] for name, value in kernels.items()},
        str(environment.get("processor", ""))[:_MOST],
    )


_WITHOUT_EFFECT = frozenset(
    {
        # where libraries are looked for: which were found, the versions say
        "LD_LIBRARY_PATH",
        # what is measured runs on the processor
        "CUDA_VISIBLE_DEVICES",
        # whether threads spin before they sleep
        "OMP_WAIT_POLICY",
    }
)
