"""Weak and strong views of rows."""
