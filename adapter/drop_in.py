"""Importing this makes the names that scripts import from ``modelscope`` resolve to the adapter's.

Where ModelScope is not installed, all of those in :mod:`adapter.modelscope_names.table` are served. Where it is, its
models, preprocessors, data sets and settings stay its own, and only the trainer layer is replaced.
"""

from __future__ import annotations

from adapter.modelscope_names.finder import serve

serve()
