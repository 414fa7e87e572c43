"""Registries: from the name in a config to a class, built-in, the user's own, a library's, or an import path.

Built-in plug-ins are found by walking their folder; nothing is listed by hand. Which names a folder declares is read
from its source text, so that a misspelt name is reported without importing torch; a module is imported when one of
its names is asked for.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from adapter.errors import ConfigError, Problem, nearest

DEFAULT_GROUP = "default"
C = TypeVar("C", bound=Callable[..., Any])


class Registry:
    """Names of one kind of component.

    Args:
        name: What the entries are, in the singular (``hook``, ``metric``); used in error messages.
        package: Package whose modules hold the built-in entries (``adapter.hooks``).
        libraries: Modules whose public classes can be named as they are (``torch.optim``), in order of preference.
        base: Import path of the class every entry must derive from, when there is one (``torch.optim:Optimizer``).
    """

    def __init__(
        self, name: str, package: str = "", libraries: tuple[str, ...] = (), base: str = ""
    ) -> None:
        self.name = name
        self.package = package
        self.libraries = libraries
        self.base = base
        self._modules: dict[str, dict[str, Any]] = {DEFAULT_GROUP: {}}

    def __repr__(self) -> str:
        return f"Registry({self.name}: {', '.join(self.names())})"

    def __contains__(self, name: object) -> bool:
        return name in self.names()

    @property
    def modules(self) -> dict[str, dict[str, Any]]:
        """Registered entries by group, then by name (built-ins not yet asked for are absent)."""
        return self._modules

    def register_module(
        self,
        group_key: str = DEFAULT_GROUP,
        module_name: str | None = None,
        module_cls: C | None = None,
        force: bool = False,
    ) -> Any:
        """Register a class or function, directly or as a decorator.

        Args:
            group_key: Namespace within the registry, such as a task.
            module_name: Name in configs; the class's own name by default.
            module_cls: The class; None returns a decorator.
            force: Replace an entry of the same name.

        Raises:
            KeyError: The name is taken by another class and ``force`` is False.
        """
        if callable(group_key) and not isinstance(group_key, str):  # used as a bare decorator
            return self.register_module()(group_key)

        def register(cls: C) -> C:
            key = module_name or cls.__name__
            group = self._modules.setdefault(group_key, {})
            taken = group.get(key)
            if taken is not None and not force and not _same_definition(taken, cls):
                raise KeyError(f"{self.name} '{key}' is registered already, by {taken.__module__}.{taken.__qualname__}; "
                               "choose another name or pass force=True")
            group[key] = cls
            return cls

        return register if module_cls is None else register(module_cls)

    def get(self, name: str, group_key: str = DEFAULT_GROUP) -> Any:
        """The class registered or built in under ``name``, else None. Import paths are not looked at."""
        for group in (group_key, DEFAULT_GROUP):
            if name in self._modules.get(group, {}):
                return self._modules[group][name]
        if name in self._builtin():
            importlib.import_module(self._builtin()[name])
            return self._modules[DEFAULT_GROUP][name]
        for library in self.libraries:
            if name in public_names(library):
                return getattr(importlib.import_module(library), name)
        return next((group[name] for group in self._modules.values() if name in group), None)

    def names(self) -> list[str]:
        """Every name a config may use, sorted; reads source text, imports nothing."""
        found = {name for group in self._modules.values() for name in group} | set(self._builtin())
        for library in self.libraries:
            found |= set(public_names(library))
        return sorted(found)

    def problem(self, name: object, key: str) -> Problem | None:
        """What is wrong with ``name`` as the value of ``key``; None when it can be looked up. Imports nothing."""
        if isinstance(name, str) and (name in self or _is_import_path(name)):
            return None
        return Problem(key, f"unknown {self.name} '{name}'", nearest=nearest(name, self.names()), kind="name",
                       fix=f"`adapter list {self.name}` shows every name; register your own with --import MODULE, "
                           "or give its import path (package.module.Class)")

    def resolve(self, name: str, key: str = "", group_key: str = DEFAULT_GROUP) -> Any:
        """The class for a registered name or an import path, checked to be of this registry's kind.

        Raises:
            ConfigError: No such name or path, or a class of another kind; names the nearest known name.
        """
        found = self.get(name, group_key)
        if found is None and _is_import_path(name):
            found = import_path(name, key)
        if found is None:
            raise ConfigError(self.problem(name, key) or Problem(key, f"unknown {self.name} '{name}'", kind="name"))
        base = import_path(self.base, key) if self.base else None
        if base is not None and not (inspect.isclass(found) and issubclass(found, base)):
            raise ConfigError(Problem(key, f"'{name}' is not a {self.name}",
                                      allowed=f"a subclass of {base.__module__}.{base.__qualname__}", kind="name"))
        return found

    def build(self, cfg: Mapping[str, Any], key: str = "", **defaults: Any) -> Any:
        """An instance from ``{type: name, **arguments}``; ``defaults`` fill arguments the config leaves out.

        Raises:
            ConfigError: Unknown type, or arguments its constructor does not take.
        """
        args = {**defaults, **cfg}
        cls = self.resolve(args.pop("type"), f"{key}.type" if key else "type")
        check_arguments(cls, args, key)
        return cls(**args)

    def _builtin(self) -> dict[str, str]:
        return declared_names(self.package) if self.package else {}


def build_from_cfg(
    cfg: Mapping[str, Any],
    registry: Registry,
    group_key: str = DEFAULT_GROUP,
    default_args: Mapping[str, Any] | None = None,
) -> Any:
    """Build ``{type: name, **arguments}`` from a registry; ``type`` may be a class as well as a name.

    Raises:
        TypeError: ``cfg`` has no ``type``.
        ConfigError: Unknown type.
    """
    args = {**(default_args or {}), **cfg}
    if "type" not in args:
        raise TypeError(f"a {registry.name} config needs a 'type'; found the keys {sorted(map(str, args))}")
    kind = args.pop("type")
    cls = registry.resolve(kind, "type", group_key) if isinstance(kind, str) else kind
    return cls(**args)


def import_path(path: str, key: str = "") -> Any:
    """The object named by ``package.module.Name`` or ``package.module:Name``.

    Raises:
        ConfigError: No such module or attribute.
    """
    module, _, attribute = path.replace(":", ".").rpartition(".")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(Problem(key, f"cannot import '{path}': {error}", kind="name",
                                  fix="check the path, and that the package is installed or on PYTHONPATH")) from error


def check_arguments(cls: Any, args: Mapping[str, Any], key: str = "") -> None:
    """Refuse arguments that ``cls`` does not take, and report required ones that are absent, all at once.

    Raises:
        ConfigError: One problem per argument.
    """
    try:
        parameters = inspect.signature(cls).parameters.values()
    except (TypeError, ValueError):  # classes written in C show no signature
        return
    named = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    problems = []
    if not any(p.kind is p.VAR_KEYWORD for p in parameters):
        problems = [
            Problem(f"{key}.{arg}" if key else arg, f"{cls.__name__} takes no argument '{arg}'",
                    allowed=", ".join(named), nearest=nearest(arg, named))
            for arg in args if arg not in named
        ]
    required = (p.name for p in parameters if p.default is p.empty and p.name in named)
    problems += [Problem(f"{key}.{arg}" if key else arg, f"{cls.__name__} needs '{arg}'", kind="missing",
                         fix="add it to the config") for arg in required if arg not in args]
    if problems:
        raise ConfigError(problems)


@lru_cache(maxsize=None)
def declared_names(package: str) -> dict[str, str]:
    """Names that a package's modules register, with the module of each, read from their source text."""
    root = importlib.util.find_spec(package)
    found = {}
    for folder in (root.submodule_search_locations or ()) if root else ():
        for path in sorted(Path(folder).glob("*.py")):
            for name in _registered_in(path):
                found[name] = f"{package}.{path.stem}"
    return found


@lru_cache(maxsize=None)
def public_names(module: str) -> tuple[str, ...]:
    """Public class names in a module's ``__all__``, without importing it; empty when it is not installed.

    Submodules are looked for below the top-level package's folder, since finding them by import would run it.
    """
    top, *rest = module.split(".")
    spec = importlib.util.find_spec(top)
    if spec is None or spec.origin is None:
        return ()
    base = Path(spec.origin).parent.joinpath(*rest)
    path = base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
    return tuple(name for name in _dunder_all(path) if name[:1].isupper()) if path.exists() else ()


def _registered_in(path: Path) -> Iterator[str]:
    """Names given to ``@REGISTRY.register_module(...)`` in a source file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            continue
        for decorator in node.decorator_list:
            call = decorator.func if isinstance(decorator, ast.Call) else decorator
            if isinstance(call, ast.Attribute) and call.attr == "register_module":
                keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
                given = [k.value.value for k in keywords if k.arg == "module_name" and isinstance(k.value, ast.Constant)]
                yield str(given[0]) if given else node.name


def _dunder_all(path: Path) -> list[str]:
    """String constants in the module's ``__all__`` assignments."""
    names: list[str] = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(t, ast.Name) and t.id == "__all__" for t in targets):
            names += [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return names


def _is_import_path(name: str) -> bool:
    parts = name.replace(":", ".").split(".")
    return len(parts) > 1 and all(part.isidentifier() for part in parts)


def _same_definition(a: Any, b: Any) -> bool:
    """Whether two classes are one definition, imported twice (a notebook cell run again, a reloaded module)."""
    return (a.__module__, a.__qualname__) == (b.__module__, b.__qualname__)


HOOKS = Registry("hook", package="adapter.hooks", base="adapter.hooks.hook:Hook")
METRICS = Registry("metric", package="adapter.metrics", libraries=("torchmetrics",))
OPTIMIZERS = Registry("optimizer", package="adapter.optim", libraries=("torch.optim",), base="torch.optim:Optimizer")
LR_SCHEDULER = Registry("scheduler", package="adapter.schedules", libraries=("torch.optim.lr_scheduler",))
TRAINERS = Registry("trainer")
MODELS = Registry("model", package="adapter.models", base="torch.nn:Module")
DATASETS = Registry("dataset", package="adapter.data")
PREPROCESSORS = Registry("preprocessor", package="adapter.data")
