"""Registries: from the name in a config to a class, built-in, the user's own, a library's, or an import path.

Built-in plug-ins are found by walking their folder; nothing is listed by hand. Which names a folder declares
is read from its source text, so that a misspelled name is reported without importing torch; a module is
imported when one of its names is asked for.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from adapter.errors import ConfigError, Problem, nearest

DEFAULT_GROUP = "default"
C = TypeVar("C", bound=Callable[..., Any])


class Registry:
    """Names of one kind of component.

    Args:
        name: What the entries are, in the singular (``hook``, ``metric``); used in error messages.
        variable: The variable that holds it, as in ``@HOOKS.register_module()``; needed with ``package``.
        package: Package whose modules hold the built-in entries (``adapter.hooks``).
        libraries: Modules whose public classes can be named as they are (``torch.optim``), best first.
        base: Import path of the class every entry must derive from, if any (``torch.optim:Optimizer``).
    """

    def __init__(
        self,
        name: str,
        variable: str = "",
        package: str = "",
        libraries: tuple[str, ...] = (),
        base: str = "",
    ) -> None:
        self.name = name
        self.variable = variable
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
            KeyError: The name is taken by another class, built-in ones included, and ``force`` is False.
        """
        if callable(group_key) and not isinstance(group_key, str):  # used as a bare decorator
            return self.register_module()(group_key)

        def register(cls: C) -> C:
            key = module_name or cls.__name__
            group = self._modules.setdefault(group_key, {})
            builtin = self._builtin().get(key) if group_key == DEFAULT_GROUP else None
            ours = builtin == cls.__module__
            owner = _full_name(group[key]) if key in group else builtin
            if force or owner in (None, _full_name(cls)) or (ours and key not in group):
                group[key] = cls
            elif not ours:  # ours, imported after the user's own took its place by force, stays out
                hint = "choose another name or pass force=True"
                raise KeyError(f"{self.name} '{key}' is registered already, by {owner}; {hint}")
            return cls

        return register if module_cls is None else register(module_cls)

    def get(self, name: str, group_key: str = DEFAULT_GROUP) -> Any:
        """The class registered or built in under ``name``, else None. Import paths are not looked at."""
        found = self._registered(name, group_key)
        if found is None and name in self._builtin():
            importlib.import_module(self._builtin()[name])
            found = self._registered(name, group_key)
        libraries = (library for library in self.libraries if name in public_names(library))
        library = next(libraries, None) if found is None else None
        return getattr(importlib.import_module(library), name) if library else found

    def _registered(self, name: str, group_key: str) -> Any:
        """The entry of a group, else of the default group, else of any."""
        groups = (self._modules.get(key, {}) for key in (group_key, DEFAULT_GROUP, *self._modules))
        return next((group[name] for group in groups if name in group), None)

    def names(self) -> list[str]:
        """Every name a config may use, sorted; reads source text, imports nothing."""
        found = {name for group in self._modules.values() for name in group} | set(self._builtin())
        for library in self.libraries:
            found |= set(public_names(library))
        return sorted(found - BASES)

    def problem(self, name: object, key: str) -> Problem | None:
        """What is wrong with ``name`` as the value of ``key``; None when it can be looked up.

        Imports nothing, so an import path that leads nowhere is found out by :meth:`resolve` only.
        """
        if name in self or _is_import_path(name):
            return None
        fix = (
            f"`adapter list {self.name}` shows every name; register your own with --import MODULE, "
            "or give its import path (package.module.Class)"
        )
        found = f"unknown {self.name} '{name}'"
        return Problem(key, found, nearest=nearest(name, self.names()), fix=fix, kind="name")

    def resolve(self, name: object, key: str = "", group_key: str = DEFAULT_GROUP) -> Any:
        """The class for a registered name or an import path, checked to be of this registry's kind.

        Raises:
            ConfigError: No such name or path, or a class of another kind; names the nearest known name.
        """
        problem = self.problem(name, key)
        if problem:
            raise ConfigError(problem)
        found = self.get(str(name), group_key)
        if found is None:
            found = import_path(str(name), key)
        base = import_path(self.base, key) if self.base else None
        made = inspect.isfunction(found) and self._registered(str(name), group_key) is found  # it returns one
        fits = callable(found) if base is None else made or (inspect.isclass(found) and issubclass(found, base))
        if not fits:
            allowed = f"a subclass of {_full_name(base)}" if base else "a class or function"
            raise ConfigError(Problem(key, f"'{name}' is no {self.name}", allowed=allowed, kind="name"))
        return found

    def holds(self, name: str) -> bool:
        """Whether ``name`` is registered, or is the import path of a class of this registry's kind."""
        try:
            self.resolve(name)
        except ConfigError:
            return False
        return True

    def build(self, cfg: Mapping[str, Any], key: str = "", **defaults: Any) -> Any:
        """An instance from ``{type: name, **arguments}``; ``defaults`` fill arguments the config leaves out.

        Raises:
            ConfigError: No type or an unknown one, or arguments its constructor does not take.
        """
        args = {**defaults, **cfg}
        type_key = _below(key, "type")
        if "type" not in args:
            fix = f"name the {self.name}; `adapter list {self.name}` shows every name"
            raise ConfigError(Problem(type_key, "missing", fix=fix, kind="missing"))
        cls = self.resolve(args.pop("type"), type_key)
        check_arguments(cls, args, key)
        return cls(**args)

    def _builtin(self) -> dict[str, str]:
        return declared_names(self.package).get(self.variable, {}) if self.package else {}


# Public in a library, but nothing to be named.
BASES = {"Optimizer", "LRScheduler", "Metric", "MetricCollection", "Transform"}


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
        fix = "check the path, and that the package is installed or on PYTHONPATH"
        raise ConfigError(Problem(key, f"cannot import '{path}': {error}", fix=fix, kind="name")) from error


def check_arguments(cls: Any, args: Mapping[str, Any], key: str = "", passed: tuple[str, ...] = ()) -> None:
    """Refuse arguments that ``cls`` does not take, and report required ones that are absent, all at once.

    Args:
        cls: A class or function.
        args: What the config gives.
        key: Where they stand in the config.
        passed: Names of arguments that are passed in code, and are not for the config to give.

    Raises:
        ConfigError: One problem per argument.
    """
    try:
        parameters = inspect.signature(cls).parameters.values()
    except (TypeError, ValueError):  # classes written in C show no signature
        return
    by_name = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    named = [name for name in by_name if name not in passed]
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters)
    unknown = [arg for arg in args if arg in passed or not (takes_any or arg in named)]
    required = [p.name for p in parameters if p.default is p.empty and p.name in named]
    problems = [_not_taken(cls, arg, named, key) for arg in unknown]
    problems += [_needed(cls, arg, key) for arg in required if arg not in args]
    if problems:
        raise ConfigError(problems)


def _not_taken(cls: Any, arg: str, named: list[str], key: str) -> Problem:
    found = f"{cls.__name__} takes no argument '{arg}'"
    return Problem(_below(key, arg), found, allowed=", ".join(named), nearest=nearest(arg, named))


def _needed(cls: Any, arg: str, key: str) -> Problem:
    found = f"{cls.__name__} needs '{arg}'"
    return Problem(_below(key, arg), found, fix="add it to the config", kind="missing")


def _below(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name


@cache
def declared_names(package: str) -> dict[str, dict[str, str]]:
    """For each registry variable the names that a package's modules register in it, with the module of each.

    Read from their source text.
    """
    root = importlib.util.find_spec(package)
    found: dict[str, dict[str, str]] = {}
    for folder in (root.submodule_search_locations or ()) if root else ():
        for path in sorted(Path(folder).glob("*.py")):
            for variable, name in _registered_in(path):
                found.setdefault(variable, {})[name] = f"{package}.{path.stem}"
    return found


@cache
def public_names(module: str) -> tuple[str, ...]:
    """Public class names of a module, without importing it; empty when it is not installed.

    They are those of its ``__all__``; of a package without one, what it takes from its own modules. Submodules are
    looked for below the top-level package's folder, since finding them by import would run it.
    """
    top, *rest = module.split(".")
    spec = importlib.util.find_spec(top)
    if spec is None or spec.origin is None:
        return ()
    base = Path(spec.origin).parent.joinpath(*rest)
    path = base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
    return tuple(name for name in _public(path) if name[:1].isupper()) if path.exists() else ()


def _registered_in(path: Path) -> Iterator[tuple[str, str]]:
    """Registry variable and name of each ``@REGISTRY.register_module(...)`` in a source file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            for decorator in node.decorator_list:
                yield from _registration(decorator, node.name)


def _registration(decorator: ast.expr, default: str) -> Iterator[tuple[str, str]]:
    """Variable and name of one decorator, when it is a registration.

    ``@REGISTRY.register_module(...)`` gives the variable, ``@registry.register_KIND("name")`` its method's name.
    """
    call = decorator.func if isinstance(decorator, ast.Call) else decorator
    if not (isinstance(call, ast.Attribute) and isinstance(call.value, ast.Name)):
        return
    if call.attr == "register_module":
        args = {k.arg: k.value for k in decorator.keywords} if isinstance(decorator, ast.Call) else {}
        given = args.get("module_name")
        yield call.value.id, str(given.value) if isinstance(given, ast.Constant) else default
    elif call.value.id == "registry" and isinstance(decorator, ast.Call) and decorator.args:
        name = decorator.args[0]
        yield call.attr, str(name.value) if isinstance(name, ast.Constant) else default


def _public(path: Path) -> list[str]:
    """String constants in the module's ``__all__`` assignments; without any, names of its relative imports."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    own = [node for node in body if isinstance(node, ast.ImportFrom) and node.level]
    imported = [alias.asname or alias.name for node in own for alias in node.names]
    return [text for node in body for text in _all_entries(node)] or imported


def _all_entries(node: ast.stmt) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    if not any(isinstance(t, ast.Name) and t.id == "__all__" for t in targets):
        return []
    return [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def _is_import_path(name: object) -> bool:
    parts = name.replace(":", ".").split(".") if isinstance(name, str) else []
    return len(parts) > 1 and all(part.isidentifier() for part in parts)


def _full_name(cls: Any) -> str:
    """``module.Class``: the same for one definition imported twice (a notebook cell run again)."""
    return f"{cls.__module__}.{cls.__qualname__}"


HOOKS = Registry("hook", "HOOKS", package="adapter.hooks", base="adapter.hooks.hook:Hook")
METRICS = Registry("metric", "METRICS", package="adapter.metrics", libraries=("torchmetrics",))
OPTIMIZERS = Registry(
    "optimizer", "OPTIMIZERS", "adapter.optim", libraries=("torch.optim",), base="torch.optim:Optimizer"
)
LR_SCHEDULER = Registry("scheduler", "LR_SCHEDULER", "adapter.schedules", libraries=("torch.optim.lr_scheduler",))
TRAINERS = Registry("trainer", "TRAINERS", package="adapter")
MODELS = Registry("model", "MODELS", package="adapter.models", base="torch.nn:Module")
DATASETS = Registry("dataset", "DATASETS", package="adapter.data")
PREPROCESSORS = Registry(
    "preprocessor", "PREPROCESSORS", package="adapter.data", libraries=("torchvision.transforms.v2",)
)
STRATEGIES = Registry("strategy", "STRATEGIES", package="adapter.lightning.strategies")
CALLBACKS = Registry(
    "callback", libraries=("lightning.pytorch.callbacks",), base="lightning.pytorch.callbacks:Callback"
)
