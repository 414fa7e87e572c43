"""What a ``run:`` config trains with in place of the documented hooks: one file a hook."""
