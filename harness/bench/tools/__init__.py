"""The tools that are held side by side: one in each file, with what it is given."""
