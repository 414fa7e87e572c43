"""Whether other packages are installed, as the file system tells."""

from __future__ import annotations

from importlib.machinery import PathFinder

PACKAGE = "ms-lightning-adapter[modelscope]"


def has_modelscope() -> bool:
    """Whether ModelScope itself is installed; its names may be served by :mod:`adapter.drop_in` all the same."""
    return PathFinder.find_spec("modelscope") is not None
