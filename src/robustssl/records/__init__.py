"""Records: what a cell came to, where it is kept, how it is read."""
