"""From curves to numbers."""
