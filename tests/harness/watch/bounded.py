"""`python bounded.py SAMPLES ...` is `steadyframe watch ...`, interrupted after so many samples.

Where a machine is busy samples come late, and what is seen in a fixed time depends on that.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from harness import cli
from harness.report import watch_progress
from harness.watch.sample import Sample

shown = watch_progress.shown


@contextmanager
def bounded(*arguments: Any, **options: Any) -> Iterator[Callable[[Sample], None]]:
    with shown(*arguments, **options) as observe:
        left = int(sys.argv[1])

        def count(sample: Sample) -> None:
            nonlocal left
            observe(sample)
            left -= 1
            if not left:
                raise KeyboardInterrupt

        yield count


watch_progress.shown = bounded
sys.exit(cli.main(["watch", *sys.argv[2:]]))
