"""Strategies: how the processes of a run share its work. One file each, registered by the name a plan gives it."""
