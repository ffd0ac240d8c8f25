"""Engines map `run_group` over groups of cells."""
