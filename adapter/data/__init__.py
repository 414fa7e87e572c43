"""Data: data sets, collators, samplers and the data loader builder."""
