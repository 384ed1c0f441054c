"""What the measurement costs, and how small a leak it finds: `make bench`."""
