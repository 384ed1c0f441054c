"""Failure at every operation: each one that can fail does so in turn, and what then becomes of it.

After Zig's checkAllAllocationFailures and SQLite's tests of its out-of-memory handling. The
operations of a run without any failure are counted; then the run is made again and again, and the
first, the second, ... of them fails. Who calls this is harness.inject.runs; what happens in the
measured process begins in harness.instruments.inject.
"""
