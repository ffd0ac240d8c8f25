"""Studies: which cells belong to a question."""
