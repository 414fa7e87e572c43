"""Arguments for lightning.Trainer: ours, the plan's, the processes', and the user's own, which win."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import lightning as L
from lightning.fabric.plugins.environments import ClusterEnvironment
from lightning.pytorch.callbacks import BatchSizeFinder, LearningRateFinder
from lightning.pytorch.utilities.exceptions import MisconfigurationException

from adapter.errors import ConfigError, Problem
from adapter.lightning.launch import environment, started
from adapter.lightning.profiler import build_profiler
from adapter.lightning.quiet import quiet

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer

# Arguments of lightning.Trainer that would do nothing, or harm, beside the hooks -> what does it instead.
DECIDED_ELSEWHERE = {
    "accumulate_grad_batches": "train.optimizer.options.cumulative_iters",
    "gradient_clip_val": "train.optimizer.options.grad_clip",
    "gradient_clip_algorithm": "train.optimizer.options.grad_clip",
    "val_check_interval": "evaluation.period",
    "check_val_every_n_epoch": "evaluation.period",
    "num_sanity_val_steps": "evaluation.period",
    "barebones": "the default, which leaves out all of Lightning's own output",
}

TUNERS = {
    LearningRateFinder: "train.lr_find",
    BatchSizeFinder: "train.scale_batch_size",
}


def lightning_arguments(owner: EpochBasedTrainer) -> dict[str, Any]:
    """Arguments for ``lightning.Trainer``, less the strategy.

    Raises:
        ConfigError: Some that are decided elsewhere, or another number of processes than a launcher has started.
    """
    refuse_decided_elsewhere(owner.trainer_args)
    given = {name: value for name, value in owner.trainer_args.items() if name != "strategy"}
    return {
        "accelerator": "auto",
        "devices": 1,
        "logger": False,
        "enable_checkpointing": False,
        "enable_model_summary": False,
        "enable_progress_bar": sys.stderr is not None and sys.stderr.isatty(),
        "num_sanity_val_steps": 0,
        "inference_mode": False,  # what an evaluation leaves in a model may be part of a graph later
        "use_distributed_sampler": False,  # the data loader builder puts its own
        "precision": owner.plan.precision,
        **owner.plan.trainer,
        **device_arguments(owner.requested_device),
        **given,
        **(owner.plan.trainer if owner.plan.fast_dev_run else {}),
        "profiler": build_profiler(given.get("profiler", owner.plan.profiler), owner.work_dir),
        **process_arguments(owner, given),
    }


def refuse_decided_elsewhere(trainer_args: Mapping[str, Any]) -> None:
    """Refuse arguments of ``lightning.Trainer`` that are decided elsewhere.

    Raises:
        ConfigError: There is one; says where.
    """
    refused = [
        Problem(f"trainer.{name}", "is not Lightning's to decide here", fix=f"use {use}")
        for name, use in DECIDED_ELSEWHERE.items()
        if trainer_args.get(name) is not None
    ]
    refused += [
        Problem("callbacks", f"{type(callback).__name__} needs Lightning to make the steps", fix=f"use {TUNERS[kind]}")
        for callback in as_list(trainer_args.get("callbacks"))
        for kind in TUNERS
        if isinstance(callback, kind)
    ]
    if refused:
        raise ConfigError(refused)


def process_arguments(owner: EpochBasedTrainer, given: Mapping[str, Any]) -> dict[str, Any]:
    """Number of processes, and Lightning's view of who starts them.

    Raises:
        ConfigError: A launcher has started another number than the user asks for.
    """
    launcher = next((hook.args.get("launcher") for hook in owner.plan.hooks if hook.type == "DDPHook"), None)
    plugins = as_list(given.get("plugins"))
    processes = started(launcher)
    if not any(isinstance(plugin, ClusterEnvironment) for plugin in plugins):
        plugins.append(environment(processes))
    if processes is None:
        return {"plugins": plugins}
    wanted = {"devices": processes.per_node, "num_nodes": processes.nodes}
    problems = [
        Problem(f"trainer.{name}", f"found {given[name]}, but {value} were started", fix="leave it out")
        for name, value in wanted.items()
        if isinstance(given.get(name), int) and given[name] not in (value, -1)
    ]
    if problems:
        raise ConfigError(problems)
    return {**wanted, "plugins": plugins}


def count_processes(owner: EpochBasedTrainer) -> int:
    """How many processes a run has, or will have.

    Raises:
        ConfigError: Lightning cannot tell, or has no such devices.
    """
    arguments = lightning_arguments(owner)
    devices, nodes = arguments["devices"], arguments.get("num_nodes", 1)
    if isinstance(devices, int) and devices > 0:
        return devices * nodes
    with refusals_named(owner), quiet():
        counted = L.Trainer(accelerator=arguments["accelerator"], devices=devices, num_nodes=nodes, logger=False)
    return counted.world_size


@contextlib.contextmanager
def refusals_named(owner: EpochBasedTrainer) -> Iterator[None]:
    """What Lightning says against its arguments, as a ConfigError."""
    try:
        yield
    except (MisconfigurationException, TypeError, ValueError) as error:
        key = "device" if owner.requested_device else "trainer"
        fix = "name what this machine has, such as cpu" if owner.requested_device else ""
        raise ConfigError(Problem(key, f"Lightning's Trainer refuses its arguments: {error}", fix=fix)) from error


def device_arguments(device: str | None) -> dict[str, Any]:
    """Lightning's accelerator and devices for a torch device name (``cpu``, ``gpu``, ``cuda:1``)."""
    if device is None:
        return {}
    kind, _, index = str(device).partition(":")
    accelerator = "gpu" if kind == "cuda" else kind
    return {"accelerator": accelerator, "devices": [int(index)] if index and accelerator != "cpu" else 1}


def as_list(value: Any) -> list[Any]:
    """A list of what one argument holds: one, several or, for None, none."""
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]
