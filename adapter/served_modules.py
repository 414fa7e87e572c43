"""Modules that scripts import and that are not there: a table says their names, and where the adapter has those."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from adapter.errors import nearest


class UnknownImportError(ImportError):
    """A script imports a name of a served module that is not served."""


class Names:
    """What is served.

    Args:
        modules: Module to the names that scripts import from it, apart from each other by spaces.
        homes: Name to the module it is in here; after a colon the name it has there, where that is another.
        whose: Whose names these are, for messages.

    Attributes:
        packages: The modules, and those above them.
    """

    def __init__(self, modules: Mapping[str, str], homes: Mapping[str, str], whose: str) -> None:
        self.modules, self.homes, self.whose = modules, homes, whose
        self.packages = {name.rsplit(".", depth)[0] for name in modules for depth in range(name.count(".") + 1)}

    def offered(self, module: str) -> list[str]:
        """Names that a module has."""
        return self.modules.get(module, "").split()

    def find(self, name: str) -> Any:
        """What a name stands for."""
        module, _, attribute = self.homes[name].partition(":")
        return getattr(importlib.import_module(module), attribute or name)

    def spec(self, fullname: str) -> ModuleSpec:
        """The spec of a served module.

        Every one is a package: Python then looks for a name that it lacks here, so that the refusal can say more.
        """
        return ModuleSpec(fullname, ServedLoader(self), is_package=True)

    def refusal(self, module: str, name: str) -> str:
        """What is not served, what is meant perhaps, and what there is."""
        start = f"{module}."
        below = sorted({other[len(start) :].split(".")[0] for other in self.packages if other.startswith(start)})
        known = [*self.offered(module), *below]
        text = f"'{module}.{name}' is not among {self.whose} that adapter serves"
        elsewhere = [other for other in self.modules if name in self.offered(other)]
        close = nearest(name, known)
        if elsewhere:
            text += f"; import {name} from {min(elsewhere, key=len)}"
        elif close:
            text += f"; did you mean '{close}'?"
        return f"{text}\n  {module} offers: {', '.join(known)}" if known else text


class ServedModule(ModuleType):
    """A module whose names are imported from where the adapter has them, when they are first asked for.

    Args:
        name: Its full name.
        names: What is served.
    """

    def __init__(self, name: str, names: Names) -> None:
        super().__init__(name)
        self.__all__ = names.offered(name)
        self._names = names

    def __getattr__(self, name: str) -> Any:
        if name not in self.__all__:
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        value = self._names.find(name)
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return self.__all__


class ServedLoader(Loader):
    """Makes served modules.

    Args:
        names: What is served.
    """

    def __init__(self, names: Names) -> None:
        self.names = names

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """An empty one; its names come when they are asked for."""
        return ServedModule(spec.name, self.names)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to run."""
