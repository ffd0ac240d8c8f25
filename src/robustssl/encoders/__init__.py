"""Encoders: images and texts as vectors, one encoder per file."""
