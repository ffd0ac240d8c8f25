"""Running the cells of a study that a store lacks."""
