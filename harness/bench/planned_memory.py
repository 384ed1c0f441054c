"""Peak memory of the planned executor beside the eager module, over a 4:1 range of geometries.

Each runs in a fresh process: torch is loaded, the peak is reset, the backend is opened, fed and
closed; what counts is how far the process's resident memory rose above what it was before.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

MODELS = ("espcn", "srcnn", "dncnn", "unet")
SIZES = ((160, 120), (320, 240), (640, 480), (320, 240), (160, 120))
MOST = 0.5
"""of what the eager module takes"""
_FRAMES = 3
_KIB = 1024


def main(arguments: list[str]) -> int:
    """Print a table; 1 if planned takes more than its share, 0 otherwise."""
    if arguments:
        print(_peak(*arguments))
        return 0
    print("Peak above the idle process, MiB, " + ", ".join(f"{w}x{h}" for w, h in SIZES))
    print(f"{'model':<8}{'eager':>8}{'planned':>9}{'ratio':>7}")
    worst = 0.0
    for model in MODELS:
        eager, planned = (_in_fresh_process(model, name) for name in ("torch", "planned"))
        worst = max(worst, planned / eager)
        print(f"{model:<8}{eager / _KIB:>8.1f}{planned / _KIB:>9.1f}{planned / eager:>7.2f}")
    print(f"limit: {MOST} of eager, {'kept' if worst <= MOST else 'EXCEEDED'}")
    return int(worst > MOST)


def _in_fresh_process(model: str, executor: str) -> int:
    module = "harness.bench.planned_memory"
    done = subprocess.run(
        [sys.executable, "-m", module, model, executor],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return int(done.stdout)


def _peak(model: str, executor: str) -> int:
    """KiB above what the process had before."""
    import numpy as np

    from backend.frame import Frame
    from harness import adapt

    opener = adapt.load("backend.reference:TorchBackend")
    # A first small frame: what torch loads and makes once for all is no one's.
    for _ in range(2):
        first = opener(model=model, executor="torch")
        first.execute(Frame(np.zeros((16, 16), np.uint8), "gray8"))
        first.close()
    Path("/proc/self/clear_refs").write_text("5")  # the peak is what is resident now
    before = _status("VmRSS")
    backend = opener(model=model, executor=executor)
    for width, height in SIZES:
        for _ in range(_FRAMES):
            backend.execute(Frame(np.zeros((height, width), np.uint8), "gray8"))
            assert backend.get_result() is not None
    backend.close()
    return _status("VmHWM") - before


def _status(name: str) -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.split(f"{name}:")[1].split()[0])


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
