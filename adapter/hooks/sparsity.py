"""SparsityHook: prune a network while it is trained."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter.errors import ConfigError, Problem, nearest
from adapter.hooks.hook import Hook
from adapter.hooks.priority import Priority
from adapter.registry import HOOKS

if TYPE_CHECKING:
    from torch import Tensor

    from adapter.trainer import EpochBasedTrainer

METHODS = ("pst",)
SIZES = {"weight_rank": 8, "weight_beta": 1.0, "mask_rank": 8, "mask_alpha1": 1.0, "mask_alpha2": 1.0}
SCHEDULE = {
    "frequency": 1,
    "initial_warmup": 0.1,
    "final_warmup": 0.3,
    "initial_sparsity": 0.0,
    "final_sparsity": 0.0,
}
FILE_NAME = "compress_model.pth"


@HOOKS.register_module()
class SparsityHook(Hook):
    """Prunes the weights of linear layers, more of them as training goes on, and exports the pruned model at its end.

    In place of a layer's weight and bias, low-rank updates of the weight and of the mask are trained.

    Args:
        pruning_method: ``pst``, parameter-efficient sparse training.
        config: ``weight_rank`` and ``mask_rank`` (8), ``weight_beta``, ``mask_alpha1`` and ``mask_alpha2`` (1.0): ranks
            and factors of the updates. ``initial_sparsity`` and ``final_sparsity`` (0.0): fractions of weights dropped
            at the start and at the end. ``initial_warmup`` (0.1) and ``final_warmup`` (0.3): fractions of the run
            in which it stays the same. ``frequency`` (1): iterations between changes.
            ``compress_module``: names of the modules to prune, all by default.
        save_dir: Folder of ``compress_model.pth``; the work directory by default.

    Raises:
        ConfigError: Another method, or a value in ``config`` that is unknown or out of range.
    """

    PRIORITY = Priority.HIGHEST

    def __init__(
        self, pruning_method: str, config: Mapping[str, Any] | None = None, save_dir: str | None = None
    ) -> None:
        if pruning_method not in METHODS:
            found, near = f"found {pruning_method!r}", nearest(pruning_method, METHODS)
            raise ConfigError(Problem("pruning_method", found, ", ".join(METHODS), near))
        self.pruning_method = pruning_method
        self.save_dir = save_dir
        given = dict(config or {})
        self.compress_module = _names(given.pop("compress_module", []))
        _check(given)
        self.sizes = {name: given.get(name, default) for name, default in SIZES.items()}
        self.schedule = {name: given.get(name, default) for name, default in SCHEDULE.items()}

    def register_processor(self, trainer: EpochBasedTrainer) -> None:
        """Before training, and before a strategy has wrapped the model: make the linear layers sparse.

        Raises:
            ConfigError: A name in ``compress_module`` below which there is no linear layer, or no such layer at all.
        """
        if trainer.mode != "train":
            return
        from torch import nn

        from adapter.models.sparse_linear import LowRank, SparseLinear

        model = trainer.unwrap_module(trainer.model)
        named = {name: module for name, module in model.named_modules() if type(module) is nn.Linear}
        self._check_names(named, type(model).__name__)
        for layer in [module for name, module in named.items() if self.is_meant(name)]:
            weight = layer.weight
            sparse = SparseLinear.take_over(layer, LowRank(**self.sizes))
            replace_parameters(trainer.optimizer, [weight], sparse.factors())

    def is_meant(self, name: str) -> bool:
        """Whether a layer of this name is one to prune."""
        return not self.compress_module or any(_lies_in(name, each) for each in self.compress_module)

    def _check_names(self, layers: Mapping[str, Any], model: str) -> None:
        """Refuse names that would prune nothing: a run that was to be sparse would end dense."""
        key = f"{type(self).__name__}.config.compress_module"
        if not layers:
            raise ConfigError(Problem(key, f"{model} has no nn.Linear to prune", fix="remove SparsityHook"))
        idle = [each for each in self.compress_module if not any(_lies_in(name, each) for name in layers)]
        found, some = f"no nn.Linear of {model} is or lies in '{{}}'", list(islice(layers, 5))
        if idle:
            allowed = f"names of modules, such as {', '.join(some)}"
            raise ConfigError([Problem(key, found.format(each), allowed, nearest(each, layers)) for each in idle])

    def before_train_iter(self, trainer: EpochBasedTrainer) -> None:
        """Set the sparsity of this iteration."""
        self.set_sparsity(trainer, trainer.iter)

    def after_run(self, trainer: EpochBasedTrainer) -> None:
        """Make the layers plain ones again, with the pruned weights, and save the model."""
        from adapter.checkpoint import files
        from adapter.models.sparse_linear import sparse_layers

        self.set_sparsity(trainer, trainer.iter - 1)
        model = trainer.unwrap_module(trainer.model)
        for layer in sparse_layers(model):
            factors = layer.factors()
            replace_parameters(trainer.optimizer, factors, [layer.restore().weight])
        if trainer.is_main_process:
            folder = Path(self.save_dir or trainer.work_dir)
            os.makedirs(folder, exist_ok=True)
            state = {"meta": {"time": time.asctime()}, "state_dict": model.state_dict()}
            files.save(state, folder / FILE_NAME)
            trainer.logger.info("The pruned model is saved to %s", folder / FILE_NAME)

    def set_sparsity(self, trainer: EpochBasedTrainer, iteration: int) -> None:
        """Give every sparse layer the sparsity of an iteration."""
        from adapter.models.sparse_linear import sparse_layers

        sparsity = scheduled_sparsity(max(iteration, 0), trainer.max_iters, **self.schedule)
        for layer in sparse_layers(trainer.model):
            layer.sparsity = sparsity


def scheduled_sparsity(
    iteration: int,
    total: int,
    frequency: int,
    initial_warmup: float,
    final_warmup: float,
    initial_sparsity: float,
    final_sparsity: float,
) -> float:
    """The sparsity of an iteration: constant, rising along a cubic curve, constant.

    Args:
        iteration: From 0.
        total: Iterations of the run.
        frequency: Iterations between changes.
        initial_warmup: Fraction of the run before the rise.
        final_warmup: Fraction of the run after it.
        initial_sparsity: Value before the rise.
        final_sparsity: Value after it.
    """
    start, end = initial_warmup * total, total - final_warmup * total
    if iteration <= start:
        return initial_sparsity
    if iteration > end:
        return final_sparsity
    risen = (iteration - start) // frequency * frequency / (end - start)
    return final_sparsity + (initial_sparsity - final_sparsity) * (1 - risen) ** 3


def replace_parameters(optimizer: Any, old: Iterable[Tensor], new: Iterable[Tensor]) -> None:
    """Let an optimizer train other parameters, at the place and with the settings of the first of the old ones.

    Args:
        optimizer: The optimizer, or a mapping of several. None for one that is yet to be made, over the new ones.
        old: Parameters it is to forget. When it does not train any, the new ones come last.
        new: Parameters to train.
    """
    if optimizer is None:
        return
    gone = {id(parameter) for parameter in old}
    optimizers = list(optimizer.values()) if isinstance(optimizer, Mapping) else [optimizer]
    groups = [group for each in optimizers for group in each.param_groups]
    home = next((group for group in groups if any(id(p) in gone for p in group["params"])), groups[-1])
    for group in groups:
        place = next((i for i, p in enumerate(group["params"]) if id(p) in gone), len(group["params"]))
        kept = [parameter for parameter in group["params"] if id(parameter) not in gone]
        group["params"] = [*kept[:place], *new, *kept[place:]] if group is home else kept
    for each in optimizers:
        for parameter in [parameter for parameter in each.state if id(parameter) in gone]:
            del each.state[parameter]


def _lies_in(name: str, module: str) -> bool:
    return name == module or name.startswith(f"{module}.")


def _names(value: Any) -> list[str]:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise ConfigError(Problem("config.compress_module", f"found {value!r}", "a list of module names"))
    return list(names)


def _check(config: Mapping[str, Any]) -> None:
    """Refuse unknown keys and values out of range, all at once."""
    known = {**SIZES, **SCHEDULE}
    problems = [
        Problem(f"config.{name}", "pst takes no such key", ", ".join(known), nearest(name, known))
        for name in config
        if name not in known
    ]
    for name, value in config.items():
        if name in known and (isinstance(value, bool) or not isinstance(value, (int, float))):
            problems.append(Problem(f"config.{name}", f"found {value!r}", "a number"))
        elif name in ("weight_rank", "mask_rank", "frequency") and not (isinstance(value, int) and value >= 1):
            problems.append(Problem(f"config.{name}", f"found {value!r}", "an integer of 1 or more"))
        elif name in SCHEDULE and name != "frequency" and not 0 <= value <= 1:
            problems.append(Problem(f"config.{name}", f"found {value!r}", "a fraction between 0 and 1"))
    if not problems and sum(config.get(name, SCHEDULE[name]) for name in ("initial_warmup", "final_warmup")) > 1:
        problems.append(Problem("config.final_warmup", "initial_warmup and final_warmup are longer than the run"))
    if problems:
        raise ConfigError(problems)
