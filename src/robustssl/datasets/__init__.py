"""Datasets: one a file, each with `load` and a `version`."""
