"""The regression gate: cases, what is counted of each, and how two measurements compare."""
