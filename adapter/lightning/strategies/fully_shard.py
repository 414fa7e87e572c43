"""FSDP2: which modules of a model are sharded as one unit each, and how."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.distributed.device_mesh import DeviceMesh

from adapter.errors import ConfigError, Problem, nearest

CONTAINERS = (nn.ModuleList, nn.ModuleDict)  # they have no forward, which is what gathers a unit's parameters


@dataclass(frozen=True)
class Sharding:
    """How a model is sharded over the processes that share the data.

    Attributes:
        wrap_classes: Class names; each module of one of them is a unit.
        min_params: Smallest number of parameters of a unit; 0 makes no units by size.
        mixed_precision: Arguments of ``MixedPrecisionPolicy``, with number formats as torch's names (``bfloat16``).
        cpu_offload: Keep parameters, gradients and optimizer state in main memory.
        reshard_after_forward: Free a unit's gathered parameters between its forward and its backward pass; None
            leaves it to torch, which does so for every unit but the model itself.
        key: Where the config asks for it, named in errors.
    """

    wrap_classes: tuple[str, ...] = ()
    min_params: int = 0
    mixed_precision: dict[str, Any] | None = None
    cpu_offload: bool = False
    reshard_after_forward: bool | None = None
    key: str = "FSDPHook"

    def apply(self, model: nn.Module, mesh: DeviceMesh) -> None:
        """Shard a model in place, innermost units first.

        Args:
            model: The model; its parameters become DTensors over ``mesh``.
            mesh: One-dimensional, over the processes that share the data.
        """
        from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy, fully_shard

        options: dict[str, Any] = {"mesh": mesh, "reshard_after_forward": self.reshard_after_forward}
        if self.mixed_precision:
            options["mp_policy"] = MixedPrecisionPolicy(**number_formats(self.mixed_precision))
        if self.cpu_offload:
            options["offload_policy"] = CPUOffloadPolicy(pin_memory=torch.cuda.is_available())
        if self.reshard_after_forward is None:
            options.pop("reshard_after_forward")
        for unit in self.units(model):
            fully_shard(unit, **options)
        fully_shard(model, **options)

    def units(self, model: nn.Module) -> list[nn.Module]:
        """The modules that are sharded one by one, innermost first; the rest goes with the model itself.

        A module with a parameter that is used outside it too (tied weights) is none: the model holds it.

        Raises:
            ConfigError: A class of which the model has no module.
        """
        by_name: dict[str, list[nn.Module]] = {}
        for module in model.modules():
            by_name.setdefault(type(module).__name__, []).append(module)
        unknown = [name for name in self.wrap_classes if name not in by_name]
        if unknown:
            raise ConfigError([_no_such_class(f"{self.key}.wrap_classes", name, by_name) for name in unknown])
        chosen = {id(module) for name in self.wrap_classes for module in by_name[name]}
        if self.min_params:
            chosen |= {id(module) for module in _large(model, self.min_params)}
        uses = Counter(id(parameter) for _, parameter in model.named_parameters(remove_duplicate=False))
        inner_first = reversed(list(model.modules()))
        return [m for m in inner_first if id(m) in chosen and m is not model and _keeps_to_itself(m, uses)]


def number_formats(policy: dict[str, Any]) -> dict[str, Any]:
    """A mixed precision policy's arguments, with torch's number formats in place of their names."""
    return {name: getattr(torch, value) if isinstance(value, str) else value for name, value in policy.items()}


def _large(module: nn.Module, minimum: int) -> Iterator[nn.Module]:
    """Modules with at least ``minimum`` parameters that no smaller such module holds, innermost first."""
    found: list[nn.Module] = []

    def left_over(module: nn.Module) -> int:
        own = sum(parameter.numel() for parameter in module.parameters(recurse=False))
        total = own + sum(left_over(child) for child in module.children())
        if total < minimum or isinstance(module, CONTAINERS):
            return total
        found.append(module)
        return 0

    left_over(module)
    yield from found


def _keeps_to_itself(module: nn.Module, uses: Counter[int]) -> bool:
    """Whether every use of a module's parameters is within it."""
    within = Counter(id(parameter) for _, parameter in module.named_parameters(remove_duplicate=False))
    return all(uses[key] == count for key, count in within.items())


def _no_such_class(key: str, name: str, known: Sequence[str] | dict[str, Any]) -> Problem:
    return Problem(
        key,
        f"the model has no module of class '{name}'",
        allowed=", ".join(sorted(known)),
        nearest=nearest(name, known),
        kind="name",
    )
