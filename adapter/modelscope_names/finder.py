"""The import hook: modules below ``modelscope`` whose names are looked up in a table."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from adapter.errors import nearest
from adapter.installed import has_modelscope
from adapter.modelscope_names.table import HOMES, MODULES, TRAINER_LAYER

ROOT = "modelscope"
PACKAGES = {name.rsplit(".", depth)[0] for name in MODULES for depth in range(name.count(".") + 1)}


class UnknownImportError(ImportError):
    """A script imports a name of ModelScope that is not served."""


class ServedModule(ModuleType):
    """A module whose names are imported from where the adapter has them, when they are first asked for."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__all__ = offered(name)

    def __getattr__(self, name: str) -> Any:
        if name not in offered(self.__name__):
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        module, _, attribute = HOMES[name].partition(":")
        value = getattr(importlib.import_module(module), attribute or name)
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return offered(self.__name__)


class ServedLoader(Loader):
    """Makes served modules."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """An empty one; its names come when they are asked for."""
        return ServedModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to run."""


class ServedFinder(MetaPathFinder):
    """Finds the served modules.

    Args:
        roots: Modules that are served, with all below them. What is not in the table there is refused.
    """

    def __init__(self, roots: Sequence[str]) -> None:
        self.roots = tuple(roots)

    def find_spec(self, fullname: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The spec of a served module; None for any other.

        Every one is a package: Python then looks for a name that it lacks here, so that the refusal can say more.

        Raises:
            UnknownImportError: It is below a root, and in no table.
        """
        if not any(fullname == root or fullname.startswith(f"{root}.") for root in self.roots):
            return None
        if fullname in PACKAGES:
            return ModuleSpec(fullname, ServedLoader(), is_package=True)
        parent, _, name = fullname.rpartition(".")
        if name.startswith("__"):
            return None
        raise UnknownImportError(refusal(parent, name), name=fullname)


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


def offered(module: str) -> list[str]:
    """Names that a served module has."""
    return MODULES.get(module, "").split()


def refusal(module: str, name: str) -> str:
    """What is not served, what is meant perhaps, and what there is."""
    below = sorted({other.removeprefix(f"{module}.").split(".")[0] for other in PACKAGES if _is_below(other, module)})
    known = [*offered(module), *below]
    text = f"'{module}.{name}' is not among ModelScope's names that adapter serves"
    elsewhere = [other for other in MODULES if name in offered(other)]
    close = nearest(name, known)
    if elsewhere:
        text += f"; import {name} from {min(elsewhere, key=len)}"
    elif close:
        text += f"; did you mean '{close}'?"
    return f"{text}\n  {module} offers: {_listed(known)}" if known else text


def _is_below(other: str, module: str) -> bool:
    return other.startswith(f"{module}.")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
