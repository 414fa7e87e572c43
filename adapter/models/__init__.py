"""Models that a config can name by itself, and the builder."""
