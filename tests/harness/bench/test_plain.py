"""What peers run under: a plain loop, which loads nothing that the backend does not."""

from __future__ import annotations

import subprocess
import sys

SOUND = "backend.faults.green.grow_only_arena:Backend"
FAULTY = "backend.faults.two_buffers_per_frame:Faulty"


def test_plain_runs_without_torch() -> None:
    script = f"import sys; from harness.bench import plain\nfor target in {SOUND, FAULTY}:\n"
    script += "    assert plain.main(target, '8x8@25*3', 2) > 0\nassert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)
