"""Encoders: rows as vectors."""
