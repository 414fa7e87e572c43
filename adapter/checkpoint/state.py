"""What a checkpoint holds: the weights, and the state training needs to go on."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from adapter.checkpoint import files
from adapter.checkpoint.loadable import loadable
from adapter.checkpoint.shards import KEY, remove_shards
from adapter.checkpoint.steppers import class_names, each, state_of
from adapter.checkpoint.weights import trainable_only
from adapter.version import package_version

if TYPE_CHECKING:
    from pathlib import Path

    from adapter.hooks.hook import Hook
    from adapter.trainer import EpochBasedTrainer


def save_weights(trainer: EpochBasedTrainer, prefix: Path, trainable: bool = False) -> Path:
    """Write the weights of a pair.

    An older trainer state of the same name goes first, so that no pair is mixed. The older pair stays whole under
    another name until the new one is.

    Args:
        trainer: The trainer.
        prefix: Of the pair.
        trainable: Leave out the parameters that are not trained.

    Returns:
        The file, ``<prefix>.pth``.
    """
    weights, state = files.pair_names(prefix)
    model = trainer.unwrap_module(trainer.model)
    values = trainer.strategy.weights(model)
    if not trainer.is_main_process:
        return weights
    if weights.is_file() and state.is_file():
        for old, second in zip((weights, state), files.pair_names(files.before_name(prefix)), strict=True):
            files.link_or_copy(old, second)
    state.unlink(missing_ok=True)
    files.save(trainable_only(model, values) if trainable else values, weights)
    return weights


def save_trainer_state(trainer: EpochBasedTrainer, prefix: Path) -> None:
    """Write the trainer state of a pair, ``<prefix>_trainer_state.pth``; an older pair of its name can go then."""
    state = trainer_state(trainer, prefix)
    if trainer.is_main_process:
        files.save(state, files.pair_names(prefix)[1])
        remove_shards(prefix, keep=(state.get("optimizer") or {}).get(KEY))
        files.remove_pair(files.before_name(prefix))


def trainer_state(trainer: EpochBasedTrainer, prefix: Path) -> dict[str, Any]:
    """``{meta, optimizer, lr_scheduler}``, with the keys the older trainer's loader reads.

    ``epoch``, ``iter`` and ``inner_iter`` say where to go on. ``meta.adapter`` holds what only this package knows: its
    version, the optimizer's class, what a search found before the run, the hooks' states, the random states, gradients
    that have not led to a step yet, the loss scaler, the log buffer, the last evaluation, and whether a hook has asked
    to stop. Of several processes, which all call this, ``others`` has the rest's own part of it, by rank from 1.

    Raises:
        TypeError: A hook, a metric, the log, the schedule or a group of the optimizer's parameters holds what could not
            be loaded again.
    """
    metric_values = loadable_metrics(trainer)  # before the log, which holds them, too
    own = own_state(trainer)
    everybody = trainer.processes.gather_to_main(own)
    epoch, iteration, inner_iter = trainer.next_place
    state: dict[str, Any] = {
        "meta": {
            "epoch": epoch,
            "iter": iteration,
            "inner_iter": inner_iter,
            "time": time.asctime(),
            "adapter": {
                "version": package_version(),
                "saved": time.time(),
                "optimizer": class_names(trainer.optimizer),
                "found": trainer.found,
                "hooks": hook_states(trainer),
                **own,
                "others": everybody[1:],
                "loss_scale": trainer.module.loss_scale_state(),
                "metric_values": metric_values,
                "stop": trainer.stop_requested,
            },
        },
    }
    if trainer.optimizer is not None:
        found = trainer.strategy.optimizer_state(trainer, prefix)
        state["optimizer"] = with_loadable_groups(found, class_names(trainer.optimizer))
    if trainer.lr_scheduler is not None:
        state["lr_scheduler"] = loadable(state_of(trainer.lr_scheduler), class_names(trainer.lr_scheduler))
    return state


def with_loadable_groups(state: Any, owner: str) -> Any:
    """An optimizer's state, or several by name, with the options of its groups as a checkpoint holds them."""
    if not isinstance(state, dict):
        return state
    if "param_groups" in state:
        return {**state, "param_groups": loadable(state["param_groups"], owner, "param_groups")}
    return {name: with_loadable_groups(own, owner) for name, own in state.items()}


def own_state(trainer: EpochBasedTrainer) -> dict[str, Any]:
    """What each process has of its own: random states, gradients of an unfinished accumulation, logged values."""
    inner_iter = trainer.next_place[2]
    return {
        "random": trainer.stream.random_state(),
        "epoch_random": trainer.stream.epoch_random if inner_iter else None,
        "gradients": gradients(trainer),
        "log_buffer": loadable(trainer.log_buffer.state_dict(), "LogBuffer"),
    }


def gradients(trainer: EpochBasedTrainer) -> dict[str, Any]:
    """Gradients by parameter name; there are some only between the iterations of one accumulation."""
    return trainer.strategy.gradients(trainer.unwrap_module(trainer.model))


def refuse_unloadable(trainer: EpochBasedTrainer) -> None:
    """Refuse what could be saved but not resumed, before half of a pair is written.

    Raises:
        TypeError: A hook's state, a metric's value or an option of the optimizer's is such; names it, and what is
            allowed.
    """
    hook_states(trainer)
    for optimizer in each(trainer.optimizer):
        groups = [
            {name: value for name, value in group.items() if name != "params"} for group in optimizer.param_groups
        ]
        loadable(groups, type(optimizer).__name__, "param_groups")
    loadable_metrics(trainer)


def loadable_metrics(trainer: EpochBasedTrainer) -> Any:
    """The values of the last evaluation; None before one."""
    return loadable(trainer.metric_values, "evaluation", "metric_values")


def hook_states(trainer: EpochBasedTrainer) -> dict[str, dict[str, Any]]:
    """State of each hook that has one, by class name and its place among hooks of that class.

    Raises:
        TypeError: One holds what could not be loaded again; names the hook's class and the entry.
    """
    states = ((key, hook, hook.state_dict()) for key, hook in numbered_hooks(trainer))
    return {key: loadable(state, type(hook).__name__) for key, hook, state in states if state}


def numbered_hooks(trainer: EpochBasedTrainer) -> Iterator[tuple[str, Hook]]:
    """Each hook with the key of its state."""
    seen: Counter[str] = Counter()
    for hook in trainer.hooks:
        name = type(hook).__name__
        yield f"{name}-{seen[name]}", hook
        seen[name] += 1
