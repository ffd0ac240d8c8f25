"""Getting data that are not at hand."""
