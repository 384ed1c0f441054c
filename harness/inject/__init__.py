"""Failure at every operation: each one that can fail does so in turn, and what then becomes of it.

After Zig's checkAllAllocationFailures and SQLite's tests of its out-of-memory handling. The
operations of a run without any failure are counted; then the run is made again and again, and the
first, the second, ... of them fails. Who calls this is harness.inject.runs; what happens in the
measured process begins in harness.instruments.inject.
"""

DEFAULT_WORKLOAD = "64x48@100*8,128x96@100*8,64x48@100*8"
DEFAULT_TIMEOUT = 10.0
"""seconds without progress, after which a run hangs"""
DEFAULT_LIMIT = 20
"""points that have broken something, after which no other is begun"""
