"""The import hook of ModelScope's names."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from adapter.installed import has_modelscope
from adapter.modelscope_names.table import HOMES, MODULES, TRAINER_LAYER
from adapter.served_modules import Names, UnknownImportError

ROOT = "modelscope"
NAMES = Names(MODULES, HOMES, "ModelScope's names")


class ServedFinder(MetaPathFinder):
    """Finds the served modules.

    Args:
        roots: Modules that are served, with all below them. What is not in the table there is refused.
    """

    def __init__(self, roots: Sequence[str]) -> None:
        self.roots = tuple(roots)

    def find_spec(self, fullname: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The spec of a served module; None for any other.

        Raises:
            UnknownImportError: It is below a root, and in no table.
        """
        if not any(fullname == root or fullname.startswith(f"{root}.") for root in self.roots):
            return None
        if fullname in NAMES.packages:
            return NAMES.spec(fullname)
        parent, _, name = fullname.rpartition(".")
        if name.startswith("__"):
            return None
        raise UnknownImportError(NAMES.refusal(parent, name), name=fullname)


def serve() -> None:
    """Serve ModelScope's names from now on: all of the table, or its trainer layer where ModelScope is installed.

    Raises:
        ImportError: ModelScope's own trainers have been imported already.
    """
    if any(isinstance(finder, ServedFinder) for finder in sys.meta_path):
        return
    roots = TRAINER_LAYER if has_modelscope() else (ROOT,)
    early = sorted(name for name in sys.modules if name in roots)
    if early:
        raise ImportError(f"{early[0]} has been imported already; import adapter.drop_in before it")
    sys.meta_path.insert(0, ServedFinder(roots))
