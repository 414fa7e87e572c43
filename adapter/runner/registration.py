"""RunRegistry: the names a ``run:`` config may use, five kinds in one registry."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from adapter.errors import ConfigError, Problem
from adapter.registry import DEFAULT_GROUP, Registry, import_path

C = TypeVar("C", bound=type)
PACKAGE = "adapter.runner"
BASES = {  # kind -> the class its entries must derive from; a schedule only has to have a method step
    "model": "adapter.runner.base_model:BaseModel",
    "dataset": "adapter.runner.base_dataset:BaseDataset",
    "processor": "adapter.runner.base_processor:BaseProcessor",
    "task": "adapter.runner.base_task:BaseTask",
    "lr_scheduler": "",
}


class RunRegistry:
    """Models, data sets, processors, tasks and schedules by name.

    Attributes:
        kinds: Kind (``model``, ``dataset``, ``processor``, ``task``, ``lr_scheduler``) to its entries.
    """

    def __init__(self) -> None:
        self.kinds = {kind: Registry(kind, f"register_{kind}", PACKAGE, base=base) for kind, base in BASES.items()}

    def register_model(self, name: str) -> Callable[[C], C]:
        """Decorator: register a model, a subclass of BaseModel.

        Raises:
            KeyError: The name is taken.
            TypeError: The class derives from another base.
        """
        return self._register("model", name)

    def register_dataset(self, name: str) -> Callable[[C], C]:
        """Decorator: register a data set, a subclass of BaseDataset; raises as ``register_model``."""
        return self._register("dataset", name)

    def register_processor(self, name: str) -> Callable[[C], C]:
        """Decorator: register a processor, a subclass of BaseProcessor; raises as ``register_model``."""
        return self._register("processor", name)

    def register_task(self, name: str) -> Callable[[C], C]:
        """Decorator: register a task, a subclass of BaseTask; raises as ``register_model``."""
        return self._register("task", name)

    def register_lr_scheduler(self, name: str) -> Callable[[C], C]:
        """Decorator: register a schedule, a class with ``step(cur_epoch, cur_step)``; raises as ``register_model``."""
        return self._register("lr_scheduler", name)

    def get_model_class(self, name: str) -> Any:
        """The model of a name; None when there is none."""
        return self.kinds["model"].get(name)

    def get_dataset_class(self, name: str) -> Any:
        """The data set of a name; None when there is none."""
        return self.kinds["dataset"].get(name)

    def get_processor_class(self, name: str) -> Any:
        """The processor of a name; None when there is none."""
        return self.kinds["processor"].get(name)

    def get_task_class(self, name: str) -> Any:
        """The task of a name; None when there is none."""
        return self.kinds["task"].get(name)

    def get_lr_scheduler_class(self, name: str) -> Any:
        """The schedule of a name; None when there is none."""
        return self.kinds["lr_scheduler"].get(name)

    @property
    def mapping(self) -> dict[str, Mapping[str, Any]]:
        """``<kind>_name_mapping`` to the classes registered so far by name."""
        return {f"{kind}_name_mapping": entries.modules[DEFAULT_GROUP] for kind, entries in self.kinds.items()}

    def problem(self, kind: str, name: object, key: str) -> Problem | None:
        """What is wrong with ``name`` as the value of ``key``; None when it can be looked up. Imports nothing."""
        problem = self.kinds[kind].problem(name, key)
        fix = (
            f"`adapter list run-{kind}` shows every name; register your own with @registry.register_{kind} and --import"
        )
        return problem and replace(problem, fix=fix)

    def resolve(self, kind: str, name: object, key: str) -> Any:
        """The class of a name, or of an import path.

        Raises:
            ConfigError: There is none; names the nearest.
        """
        problem = self.problem(kind, name, key)
        if problem:
            raise ConfigError(problem)
        return self.kinds[kind].resolve(name, key)

    def _register(self, kind: str, name: str) -> Callable[[C], C]:
        entries = self.kinds[kind]

        def register(cls: C) -> C:
            self._check(kind, name, cls)
            taken = entries.modules[DEFAULT_GROUP].get(name)
            if taken is not None:
                raise KeyError(f"{kind} '{name}' is registered already, by {taken.__module__}.{taken.__qualname__}")
            entries.register_module(module_name=name, module_cls=cls)
            return cls

        return register

    @staticmethod
    def _check(kind: str, name: str, cls: Any) -> None:
        base = import_path(BASES[kind]) if BASES[kind] else None
        if base is not None and not (inspect.isclass(cls) and issubclass(cls, base)):
            raise TypeError(f"{kind} '{name}' must derive from adapter.runner.{base.__name__}, which {cls!r} does not")
        if base is None and not callable(getattr(cls, "step", None)):
            raise TypeError(f"{kind} '{name}' must have a method step(cur_epoch, cur_step), which {cls!r} has not")


registry = RunRegistry()
