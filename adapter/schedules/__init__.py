"""Learning rate schedules: the builder, warmups, and one file for each schedule that torch lacks."""
