"""`python -m harness.bench.matrix [FAULT ...]`."""

from __future__ import annotations

import sys

from harness.bench.matrix.show import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
