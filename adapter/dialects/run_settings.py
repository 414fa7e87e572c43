"""The settings of a ``run:`` config: one spelling of each key, DeepSpeed's values and the defaults filled in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from adapter.config.config_dict import ConfigDict
from adapter.config.paths import MISSING, find
from adapter.errors import Problem
from adapter.schema.check import is_placeholder

ALIASES = {  # LAVIS's spelling -> the source project's
    "batch_size_train": "batch_size",
    "batch_size_eval": "batch_size_val",
    "num_workers": "num_worker",
}
DEFAULTS: Mapping[str, Any] = {
    "runner": "runner_base",
    "evaluate": False,
    "num_worker": 0,
    "lr_sched": "constant_lr",
    "min_lr": 0.0,
    "warmup_lr": -1,
    "warmup_steps": 0,
    "warmup_scope": "epoch",
    "lr_layer_decay": 1,
    "weight_decay": 0.05,
    "beta2": 0.999,
    "accum_grad_iters": 1,
    "log_freq": 50,
    "eval_freq": 1,
    "save_freq": 1,
    "output_dir": "output",
    "amp": False,
    "autocast_dtype": "fp16",
    "train_splits": ("train",),
    "valid_splits": (),
    "test_splits": (),
}
# Key of the run section -> where deepspeed_config says the same.
IN_DEEPSPEED = {
    "batch_size": "train_micro_batch_size_per_gpu",
    "accum_grad_iters": "gradient_accumulation_steps",
    "grad_norm_clip": "gradient_clipping",
    "init_lr": "optimizer.params.lr",
    "weight_decay": "optimizer.params.weight_decay",
    "beta2": "optimizer.params.betas[1]",
}
BF16 = ("bf16", "bfloat16")


def settings(config: Mapping[str, Any]) -> ConfigDict:
    """The run section with the source project's spelling, the defaults, and what only ``deepspeed_config`` says.

    ``batch_size`` is that of ``datasets``, when only they give one, and ``batch_size_val`` is ``batch_size`` when not
    given. A key that is null is as if it were absent.
    """
    found = given(config)
    for key, value in _in_deepspeed(found):
        found.setdefault(key, value)
    sizes = {size for size in (_sizes(config)) if size is not None}
    if len(sizes) == 1:
        found.setdefault("batch_size", sizes.pop())
    if "batch_size" in found:
        found.setdefault("batch_size_val", found.batch_size)
    if "datasets" not in config and isinstance(config.get("dataset"), Mapping) and config["dataset"].get("val_cfg"):
        found.setdefault("valid_splits", ["val"])
    for key, value in DEFAULTS.items():
        found.setdefault(key, value)
    return found


def given(config: Mapping[str, Any]) -> ConfigDict:
    """What the run section gives, with the source project's spelling; of two spellings of a key that one wins."""
    section = config.get("run")
    entries = section if isinstance(section, Mapping) else {}
    found = ConfigDict({key: value for key, value in entries.items() if value is not None and key not in ALIASES})
    for alias, key in ALIASES.items():
        if entries.get(alias) is not None:
            found.setdefault(key, entries[alias])
    return found


def uses_deepspeed(run: Mapping[str, Any]) -> bool:
    """Whether a run is DeepSpeed's: by its runner, or because it has a DeepSpeed config."""
    return run.get("runner") == "deepspeed_runner" or bool(run.get("deepspeed_config"))


def two_spellings(config: Mapping[str, Any]) -> Iterator[Problem]:
    """A problem for each key that is given under both spellings, with two values."""
    section = config.get("run") or {}
    for alias, key in ALIASES.items():
        one, other = section.get(key), section.get(alias)
        if one is not None and other is not None and one != other:
            found = f"found {other}, but run.{key}, the same setting, is {one}"
            yield Problem(f"run.{alias}", found, fix=f"keep one of the two; an override has to be of run.{key}")


def differences(config: Mapping[str, Any]) -> Iterator[Problem]:
    """A problem for each value that the run section and ``deepspeed_config`` both give, differently."""
    run = given(config)
    for key, value in _in_deepspeed(run):
        if key in run and run[key] != value:
            found = f"found {value}, but run.{key} is {run[key]}"
            fix = 'write the same value in both places, or "auto" here'
            yield Problem(f"run.deepspeed_config.{IN_DEEPSPEED[key]}", found, fix=fix)


def iterations(run: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Epochs of a run, and iterations an epoch when the config says them; None for what the data give.

    ``max_iters`` and ``iters_per_inner_epoch`` count for ``runner_iter``, and where there is no ``max_epoch``.
    """
    inner, whole = run.get("iters_per_inner_epoch"), run.get("max_iters")
    counted = run.get("runner") == "runner_iter" or run.get("max_epoch") is None
    if isinstance(inner, int) and isinstance(whole, int) and counted:
        return -(-whole // inner), inner
    return run.get("max_epoch"), run.get("iters_per_epoch")


def precision(run: Mapping[str, Any]) -> str:
    """Lightning's name for the number format that ``amp`` and ``autocast_dtype`` ask for."""
    kind = str(run.get("autocast_dtype"))
    if not run.get("amp") or kind in ("fp32", "float32"):
        return "32-true"
    return "bf16-mixed" if kind in BF16 else "16-mixed"


def _in_deepspeed(run: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What ``deepspeed_config`` says of the run section's keys; ``auto`` says nothing."""
    for key, path in IN_DEEPSPEED.items():
        value = find(run.get("deepspeed_config") or {}, path)
        if value is not MISSING and value is not None and value != "auto" and not is_placeholder(value):
            yield key, value


def _sizes(config: Mapping[str, Any]) -> list[Any]:
    datasets = config.get("datasets")
    entries = datasets.values() if isinstance(datasets, Mapping) else ()
    return [entry.get("batch_size") for entry in entries if isinstance(entry, Mapping)]
