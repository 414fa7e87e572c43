"""Optimizers: the builder, and one file for each optimizer that torch lacks."""
