"""Completion in shells: what there is to complete, and a script of it for each shell."""
