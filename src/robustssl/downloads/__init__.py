"""Getting data: the cache they are kept in, their sources, and packages that carry data."""
