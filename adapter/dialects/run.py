"""The ``run:`` schema: a table from its keys to the documented ones, and the documented config it becomes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adapter.config.config import Config
from adapter.config.paths import find
from adapter.dialects.move import Move, MoveFate, covers
from adapter.dialects.run_settings import iterations, precision, settings, uses_deepspeed
from adapter.registry import CALLBACKS

SECTIONS = ("run", "datasets", "env")  # top-level keys that only this schema has
HOOKS = "adapter.runner.hooks"

# Key -> fate, documented key it corresponds to, reason. A section's entry covers the keys below it.
TABLE: Mapping[str, tuple[MoveFate, str, str]] = {
    "model": ("same", "model", "passed to the model's from_config"),
    "dataset": ("same", "dataset", "train_cfg and val_cfg, by their name"),
    "datasets": ("moved", "dataset", "each data set by its name, joined"),
    "env": ("dropped", "", "folders of the author's machine"),
    "run.task": ("same", "task", "the task's name"),
    "run.max_epoch": ("moved", "train.max_epochs", ""),
    "run.max_iters": ("moved", "train.max_epochs", "divided by iters_per_inner_epoch, for runner_iter"),
    "run.iters_per_inner_epoch": ("moved", "train.train_iters_per_epoch", ""),
    "run.iters_per_epoch": ("moved", "train.train_iters_per_epoch", ""),
    "run.output_dir": ("moved", "train.work_dir", "a run writes to a folder of its own below it"),
    "run.batch_size": ("moved", "train.dataloader.batch_size_per_gpu", ""),
    "run.batch_size_train": ("moved", "train.dataloader.batch_size_per_gpu", ""),
    "run.batch_size_val": ("moved", "evaluation.dataloader.batch_size_per_gpu", ""),
    "run.batch_size_eval": ("moved", "evaluation.dataloader.batch_size_per_gpu", ""),
    "run.num_worker": ("moved", "train.dataloader.workers_per_gpu", "for both loaders"),
    "run.num_workers": ("moved", "train.dataloader.workers_per_gpu", "for both loaders"),
    "run.init_lr": ("moved", "train.optimizer.lr", "of AdamW"),
    "run.weight_decay": (
        "moved",
        "train.optimizer.weight_decay",
        "of AdamW, over the model's get_optimizer_params",
    ),
    "run.beta2": ("moved", "train.optimizer.betas", "betas are (0.9, beta2)"),
    "run.lr_layer_decay": (
        "moved",
        "train.optimizer.param_groups",
        "lr_scale of the model's get_optimizer_params",
    ),
    "run.accum_grad_iters": ("moved", "train.optimizer_hook.cumulative_iters", "counted within the epoch"),
    "run.grad_norm_clip": ("moved", "train.optimizer_hook.grad_clip.max_norm", ""),
    "run.lr_sched": ("moved", "train.lr_scheduler_hook.lr_sched", "set before each step"),
    "run.lr_decay_rate": ("moved", "train.lr_scheduler_hook.lr_decay_rate", ""),
    "run.min_lr": ("moved", "train.lr_scheduler_hook.min_lr", ""),
    "run.warmup_lr": ("moved", "train.lr_scheduler_hook.warmup_lr", "negative: init_lr"),
    "run.warmup_steps": ("moved", "train.lr_scheduler_hook.warmup_steps", "iterations of the first epoch"),
    "run.warmup_ratio": ("moved", "train.lr_scheduler_hook.warmup_ratio", "of all iterations"),
    "run.warmup_scope": ("moved", "train.lr_scheduler_hook.warmup_scope", "global: over more epochs than the first"),
    "run.log_freq": ("moved", "train.logging.interval", ""),
    "run.save_freq": ("moved", "train.checkpoint.period.interval", ""),
    "run.eval_freq": ("moved", "evaluation.period.interval", "and after the last epoch"),
    "run.amp": ("moved", "train.optimizer_hook.precision", "in the format of autocast_dtype"),
    "run.autocast_dtype": ("moved", "train.optimizer_hook.precision", "fp16 or bf16"),
    "run.evaluate": ("moved", "", "true evaluates, and trains nothing"),
    "run.train_splits": ("same", "dataset.train", ""),
    "run.valid_splits": ("same", "dataset.val", ""),
    "run.test_splits": ("same", "dataset.val", "after training, with the best weights"),
    "run.resume_ckpt_path": ("moved", "", "the checkpoint to go on from"),
    "run.resume_ckpt_load_dir": ("dropped", "", "--resume names the checkpoint to go on from"),
    "run.resume_ckpt_tag": ("dropped", "", "--resume names the checkpoint to go on from"),
    "run.hooks": ("moved", "train.hooks", "hooks and Lightning callbacks"),
    "run.seed": ("moved", "", "the keyword seed"),
    "run.device": ("moved", "", "the keyword device"),
    "run.runner": ("moved", "", "runner_base, runner_iter or deepspeed_runner"),
    "run.deepspeed_config": ("moved", "train.hooks.DeepspeedHook.config", ""),
    "run.distributed": ("dropped", "", "follows from how the processes are started"),
    "run.dist_url": ("dropped", "", "follows from how the processes are started"),
    "run.world_size": ("dropped", "", "follows from how the processes are started"),
    "run.gpu": ("dropped", "", "follows from how the processes are started"),
    "run.max_len": ("same", "run.max_len", "read by the task"),
    "run.min_len": ("same", "run.min_len", "read by the task"),
    "run.num_beams": ("same", "run.num_beams", "read by the task"),
}


def is_written_in(config: Mapping[str, Any]) -> bool:
    """Whether a config has keys that only this schema has; one whose ``run`` section is missing has, too."""
    dataset = config.get("dataset")
    named = isinstance(dataset, Mapping) and any(key in dataset for key in ("train_cfg", "val_cfg"))
    return named or any(key in config for key in SECTIONS)


def to_documented(config: Config) -> tuple[Config, list[Move]]:
    """The documented config that a config of this schema becomes, and where each of its keys went.

    The optimizer, the schedule, the files and the log lines of this schema are hooks of its own, at the keys of the
    documented ones.
    """
    run = settings(config)
    epochs, epoch_iters = iterations(run)
    if run.evaluate:
        epochs = 1  # nothing is trained, and the config need not say
    workers = {"workers_per_gpu": run.num_worker}
    listed = _listed_hooks(run)
    train = {
        "work_dir": run.output_dir,
        "max_epochs": epochs,
        "train_iters_per_epoch": epoch_iters,
        "dataloader": {"batch_size_per_gpu": run.get("batch_size"), "shuffle": True, "drop_last": True, **workers},
        "optimizer": _optimizer(run),
        "optimizer_hook": _optimizer_hook(run),
        "lr_scheduler_hook": _schedule_hook(run),
        "checkpoint": {"period": {"type": f"{HOOKS}.checkpoint.RunCheckpointHook", "interval": run.save_freq}},
        "logging": {"type": f"{HOOKS}.log.RunLogHook", "interval": run.log_freq},
        "hooks": [hook for _, hook in listed],
    }
    evaluation = {"dataloader": {"batch_size_per_gpu": run.get("batch_size_val"), **workers}}
    if run.valid_splits:
        evaluation["period"] = {"type": f"{HOOKS}.evaluation.RunEvaluationHook", "interval": run.eval_freq}
    sections = {"model": config.get("model"), "dataset": config.get("dataset", config.get("datasets"))}
    whole = {**sections, "train": train, "evaluation": evaluation}
    documented = Config(_without_nulls(whole), filename=config.filename)
    numbered = [Move(key, f"train.hooks[{index}]", "moved") for index, (key, _) in enumerate(listed)]
    deepspeed = Move("run.deepspeed_config", "train.hooks[0].config", "moved")
    device = Move("run.device", "device", "moved")  # last: the table has it with a reason
    return documented, [*([deepspeed] if uses_deepspeed(run) else ()), *numbered, *_moves(), device]


def callbacks(run: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """The Lightning callbacks among the entries of ``run.hooks``, each with its key."""
    return [(key, entry) for key, entry in _hook_entries(run) if is_callback(entry)]


def is_callback(entry: Any) -> bool:
    """Whether an entry of ``run.hooks`` names a callback of Lightning, or a class of that kind."""
    kind = entry.get("type") if isinstance(entry, Mapping) else None
    return isinstance(kind, str) and CALLBACKS.holds(kind)


def _hook_entries(run: Mapping[str, Any]) -> list[tuple[str, Any]]:
    entries = run.get("hooks")
    found = entries if isinstance(entries, (list, tuple)) else ()
    return [(f"run.hooks[{index}]", entry) for index, entry in enumerate(found)]


def _listed_hooks(run: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """What goes into ``train.hooks``, each with the key it comes from."""
    own = [(key, entry) for key, entry in _hook_entries(run) if not is_callback(entry)]
    if not uses_deepspeed(run):
        return own
    return [("run.deepspeed_config", {"type": "DeepspeedHook", "config": run.get("deepspeed_config")}), *own]


def _optimizer(run: Mapping[str, Any]) -> dict[str, Any]:
    """AdamW; what only DeepSpeed's config says of it comes from there."""
    asked = find(run.get("deepspeed_config") or {}, "optimizer.params")
    params = asked if isinstance(asked, Mapping) else {}
    betas, eps = params.get("betas"), params.get("eps")
    first = betas[0] if isinstance(betas, (list, tuple)) else 0.9
    return {
        "type": "AdamW",
        "lr": run.get("init_lr"),
        "weight_decay": run["weight_decay"],
        "betas": [first, run["beta2"]],
        "eps": None if eps == "auto" else eps,
    }


def _optimizer_hook(run: Mapping[str, Any]) -> dict[str, Any]:
    clip = run.get("grad_norm_clip")
    return {
        "type": f"{HOOKS}.optimizer.RunOptimizerHook",
        "cumulative_iters": run["accum_grad_iters"],
        "grad_clip": {"max_norm": clip} if clip else None,
        "precision": precision(run),
    }


def _schedule_hook(run: Mapping[str, Any]) -> dict[str, Any]:
    names = ("lr_sched", "init_lr", "min_lr", "lr_decay_rate", "warmup_lr", "warmup_steps", "warmup_ratio")
    arguments = {name: run.get(name) for name in (*names, "warmup_scope")}
    return {"type": f"{HOOKS}.schedule.RunScheduleHook", **arguments}


def _without_nulls(value: Any) -> Any:
    """Nested mappings of this module's own without the keys that hold nothing; what the user wrote stays."""
    if type(value) is not dict:
        return value
    return {key: _without_nulls(item) for key, item in value.items() if item is not None}


def _moves() -> list[Move]:
    """The table, with the aliases last: a problem of a documented key names the first key that becomes it."""
    return [Move(key, to, fate, reason) for key, (fate, to, reason) in TABLE.items()]


def move_of(path: str) -> Move | None:
    """What the table says about a key path; None for one it does not know."""
    key = next((key for key in TABLE if covers(key, path)), None)
    return Move(key, TABLE[key][1], TABLE[key][0], TABLE[key][2]) if key else None


def keys_of(section: str) -> tuple[str, ...]:
    """The keys that the table knows in a section; the sections themselves when it does not know that one."""
    below = tuple(key.partition(".")[2] for key in TABLE if key.startswith(f"{section}."))
    return below or tuple(dict.fromkeys(key.partition(".")[0] for key in TABLE))
