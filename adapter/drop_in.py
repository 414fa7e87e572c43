"""Importing this makes the names that scripts import from ``modelscope`` resolve to the adapter's.

Where ModelScope is not installed, all of those in :mod:`adapter.modelscope_names.table` are served. Where it is, its
models, preprocessors, data sets and settings stay its own, and only the trainer layer is replaced.

Scripts of ``run:`` projects find the modules of :mod:`adapter.runner.project_names` that they do not have themselves.
"""

from __future__ import annotations

from adapter.modelscope_names import finder
from adapter.runner import project_names

finder.serve()
project_names.serve()
