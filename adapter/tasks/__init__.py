"""Tasks: what a task's model is, and what its outputs mean; one file a task, found by walking this folder."""
