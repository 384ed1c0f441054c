"""A process whose memory does what its name says: `python program.py NAME [BYTES_PER_SECOND]`.

It goes on until it is ended, or for SECONDS, a third argument.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

TICK_S = 0.01
TOOTH_S = 0.3
WARM_S = 0.5
MIB = 1 << 20

kept: list[bytearray] = []


def touched(size: int) -> bytearray:
    return bytearray(b"\1" * size)


def leak(seconds: float, rate: float) -> None:
    owed = int(rate * seconds) - sum(map(len, kept))
    if owed > 0:
        kept.append(touched(owed))


def warm_up(seconds: float, _: float) -> None:
    leak(min(seconds, WARM_S), 20 * MIB / WARM_S)


def sawtooth(seconds: float, _: float) -> None:
    """Grows by 5 MiB, gives it back, and again."""
    if seconds % TOOTH_S < TICK_S * 2:
        kept.clear()
    kept.append(touched(256 * 1024))


def flat(_: float, __: float) -> None:
    kept[:] = [touched(MIB)]


def children(_: float, __: float) -> None:
    """One after the other comes and goes."""
    subprocess.run([sys.executable, "-S", "-c", "x = b'1' * 3000000"], check=True)


PROGRAMS: dict[str, Callable[[float, float], None]] = {
    each.__name__: each for each in (leak, warm_up, sawtooth, flat, children)
}


def main(name: str, rate: str = "0", lasts: str = "inf") -> None:
    started = time.monotonic()
    while (seconds := time.monotonic() - started) < float(lasts):
        PROGRAMS[name](seconds, float(rate))
        time.sleep(TICK_S)


if __name__ == "__main__":
    main(*sys.argv[1:])
