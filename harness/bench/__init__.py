"""What the measurement costs, measured: `make bench-trace` and `make bench-events`."""
