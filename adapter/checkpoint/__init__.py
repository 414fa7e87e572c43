"""Checkpoints: the .pth pair, written aside and renamed, and the output folder linked to the newest weights."""
