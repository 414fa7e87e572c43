"""Metrics: the base class, the builder, and one file a metric."""
