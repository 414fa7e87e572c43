"""Rules between sections: what a run needs, names that must exist, things that do not go together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from adapter.config.paths import leaves
from adapter.errors import ConfigError, Problem, nearest
from adapter.installed import PACKAGE
from adapter.metrics.task_metrics import DEFAULTS
from adapter.models.directory import architectures
from adapter.models.modelscope_model import directory_of, is_modelscopes
from adapter.registry import HOOKS, LR_SCHEDULER, METRICS, MODELS, OPTIMIZERS, Registry
from adapter.schema.check import is_placeholder
from adapter.schema.hook_list import HookPlan, hook_list, section
from adapter.schema.metric_entries import default_metrics, metric_entries
from adapter.schema.search import search_problems
from adapter.schema.tuners import TUNER_SECTIONS

Settings = Mapping[str, Any]
Rule = Callable[[Settings, Settings], Iterator[Problem]]

ADDED_BY = {"TorchAMPOptimizerHook": "use_fp16", "DDPHook": "launcher"}  # keywords that add a hook
FOLLOWERS = ("BestCkptSaverHook", "EarlyStopHook", "PlateauLrSchedulerHook")
STRATEGY_HOOKS = ("DeepspeedHook", "DeepSpeedHook", "MegatronHook", "FSDPHook")
SHARDS_WHAT_SPLITS_LEAVE = {"MegatronHook", "FSDPHook"}  # the one pair that goes together
STEPPING_HOOKS = {  # hooks that training adds by itself, and where another is put in their place
    "OptimizerHook": "train.optimizer_hook",
    "NoneOptimizerHook": "train.optimizer_hook",
    "TorchAMPOptimizerHook": "train.optimizer_hook",
    "ApexAMPOptimizerHook": "train.optimizer_hook",
    "LrSchedulerHook": "train.lr_scheduler_hook",
    "NoneLrSchedulerHook": "train.lr_scheduler_hook",
    "PlateauLrSchedulerHook": "train.lr_scheduler_hook",
}


def epochs_are_given(config: Settings, keywords: Settings) -> Iterator[Problem]:
    """A run needs to know its number of epochs."""
    train = section(config, "train")
    if all(value is None for value in (train.get("max_epochs"), train.get("num_steps"), keywords.get("max_epochs"))):
        fix = "add max_epochs to the train section, or pass max_epochs=N"
        yield Problem("train.max_epochs", "not given", "an integer of 1 or more", kind="missing", fix=fix)


def optimizer_is_given(config: Settings, keywords: Settings) -> Iterator[Problem]:
    """A run needs an optimizer."""
    if not section(config, "train").get("optimizer"):
        fix = 'add "optimizer": {"type": "AdamW", "lr": 1e-4} to the train section'
        yield Problem("train.optimizer", "not given", kind="missing", fix=fix)


def losses_are_named(config: Settings, keywords: Settings) -> Iterator[Problem]:
    """Without a loss nothing is trained; one that is named twice has no graph left for its second backward pass."""
    for key in ("train.optimizer.options", "train.optimizer_hook"):
        names = section(config, key).get("loss_keys", "loss")
        if isinstance(names, list) and (not names or len(set(map(str, names))) < len(names)):
            allowed = "the name of a loss, or a list of one or more, each once"
            yield Problem(f"{key}.loss_keys", f"found {names!r}", allowed)


def rates_are_finite(config: Settings, keywords: Settings) -> Iterator[Problem]:
    """With an infinite rate the weights are lost in the first step; a warmup cannot end before it begins."""
    for path, value in leaves(config):
        rate = path.startswith(("train.optimizer.", "train.lr_scheduler."))
        if rate and not path.startswith("train.optimizer.options.") and isinstance(value, float) and math.isinf(value):
            yield Problem(path, f"found {value}", "a finite number")
    warmup = section(config, "train.lr_scheduler").get("num_warmup_steps")
    if isinstance(warmup, (int, float)) and warmup < 0:
        yield Problem("train.lr_scheduler.num_warmup_steps", f"found {warmup}", "an integer of 0 or more")


def names_exist(config: Settings, keywords: Settings) -> Iterator[Problem]:
    """Optimizer, schedule, model and metrics must be registered, or import paths."""
    for registry, key in ((OPTIMIZERS, "train.optimizer"), (LR_SCHEDULER, "train.lr_scheduler")):
        yield from _unknown(registry, section(config, key).get("type"), f"{key}.type")
    yield from _model_exists(config, keywords)
    for key, entry in metric_entries(config).items():
        named = isinstance(entry, Mapping)
        yield from _unknown(METRICS, entry.get("type") if named else entry, f"{key}.type" if named else key)


def _model_exists(config: Settings, keywords: Settings) -> Iterator[Problem]:
    """The model's type must be one that can be built; that of an architecture of transformers is told when it is."""
    model, filename = section(config, "model"), getattr(config, "filename", None)
    kind = model.get("type")
    model_dir = keywords.get("model_dir") or directory_of(model, Path(filename).parent if filename else None)
    if (isinstance(kind, str) and kind in architectures()) or is_modelscopes(model, model_dir):
        return
    for problem in _unknown(MODELS, kind, "model.type"):
        fix = f"pip install '{PACKAGE}'"
        if model_dir is None:
            yield problem
        elif model.get("path"):
            found = f"'{model['path']}' holds a model of ModelScope, {kind!r}, whose package is not installed"
            yield Problem("model.path", found, fix=fix, kind="name")
        else:
            yield replace(problem, fix=f"{problem.fix}; for a model of ModelScope, {fix}")


def hooks_exist(config: Settings, keywords: Settings) -> Iterator[Problem]:
    """Hooks must be registered or import paths."""
    for hook in hook_list(config, keywords):
        if hook.type:
            try:
                HOOKS.resolve(hook.type, _type_key(hook))
            except ConfigError as error:
                yield from error.problems


def steps_once(config: Settings, keywords: Settings) -> Iterator[Problem]:
    """The hook list must not hold a second hook that steps the optimizer or the schedule."""
    for hook in hook_list(config, keywords):
        if hook.key.startswith("train.hooks[") and hook.type in STEPPING_HOOKS:
            found = f"{hook.type} in the list would run beside the one that training adds"
            yield Problem(_type_key(hook), found, fix=f"move it to {STEPPING_HOOKS[hook.type]}")


def one_strategy(config: Settings, keywords: Settings) -> Iterator[Problem]:
    """The processes of a run share its work in one way; DDPHook only says who starts them."""
    asking = [hook for hook in hook_list(config, keywords) if hook.type in STRATEGY_HOOKS]
    if {hook.type for hook in asking} == SHARDS_WHAT_SPLITS_LEAVE:
        return
    for other in asking[1:]:
        found = f"{other.type} and {asking[0].type} each ask for another way to share the work among processes"
        yield Problem(_type_key(other), found, fix="keep one of them")


def plateau_is_told_its_metric(config: Settings, keywords: Settings) -> Iterator[Problem]:
    """ReduceLROnPlateau and PlateauLrSchedulerHook need each other, and no warmup goes with them."""
    scheduler, hook = section(config, "train.lr_scheduler"), section(config, "train.lr_scheduler_hook")
    on_plateau = scheduler.get("type") == "ReduceLROnPlateau"
    has_hook = hook.get("type") == "PlateauLrSchedulerHook"
    if on_plateau and not has_hook:
        example = '"train": {"lr_scheduler_hook": {"type": "PlateauLrSchedulerHook", "metric_key": "accuracy"}}'
        found = "ReduceLROnPlateau is not told which metric it watches: it needs PlateauLrSchedulerHook"
        yield Problem("train.lr_scheduler", found, kind="missing", fix=f"add {example}")
    if has_hook and not scheduler and not (keywords.get("optimizers") or (None, None))[1]:
        found = "PlateauLrSchedulerHook has no schedule to step"
        fix = 'add "lr_scheduler": {"type": "ReduceLROnPlateau"} to the train section'
        yield Problem("train.lr_scheduler", found, kind="missing", fix=fix)
    if has_hook and scheduler.get("type") and not on_plateau:
        found = f"{scheduler['type']} watches no metric, but train.lr_scheduler_hook is PlateauLrSchedulerHook"
        yield Problem("train.lr_scheduler.type", found, "ReduceLROnPlateau")
    if on_plateau and (hook.get("warmup") or section(scheduler, "options").get("warmup")):
        found = "a warmup cannot be combined with ReduceLROnPlateau"
        yield Problem("train.lr_scheduler.options.warmup", found, fix="remove the warmup")


def metrics_are_followed(config: Settings, keywords: Settings) -> Iterator[Problem]:
    """Hooks that follow a metric need its name, and evaluations during training that compute it."""
    evaluates = section(config, "evaluation").get("period") is not None
    for hook in hook_list(config, keywords):
        if hook.type in FOLLOWERS and hook.args.get("metric_key") == "":
            yield Problem(f"{hook.key}.metric_key", 'found ""', "the name of a metric, such as accuracy")
        if hook.type in FOLLOWERS and not evaluates:
            found = f"{hook.type} follows evaluations, but there is none during training"
            fix = 'add "evaluation": {"period": {"interval": 1}}'
            yield Problem(hook.key, found, kind="missing", fix=fix)


def metrics_are_given(config: Settings, keywords: Settings) -> Iterator[Problem]:
    """An evaluation during training has to compute something that is there."""
    if section(config, "evaluation").get("period") is None or metric_entries(config):
        return
    defaults = default_metrics(config)
    if not defaults:
        found = f"not given, and the task {config.get('task')!r} has no default metric"
        fix = "add metrics to the evaluation section"
        near = nearest(config.get("task"), DEFAULTS)
        yield Problem("evaluation.metrics", found, nearest=near, kind="missing", fix=fix)
    for name in defaults:
        for problem in _unknown(METRICS, name, "task"):
            found = f"the default metric of {config.get('task')!r}, {name}, is not available in this version"
            yield replace(problem, found=found, nearest="", fix="name others in evaluation.metrics")


def one_tuner_section(config: Settings, keywords: Settings) -> Iterator[Problem]:
    """The two names of the adapters' section must not both be used."""
    given = [key for key in TUNER_SECTIONS if section(config, key)]
    if len(given) > 1:
        yield Problem(given[1], f"{given[0]} is given, too, and is the same section", fix="keep one of them")


def lightning_can_search(config: Settings, keywords: Settings) -> Iterator[Problem]:
    """Lightning's Tuner needs steps that Lightning can make, on an optimizer that it can make."""
    in_code = any(each is not None for each in keywords.get("optimizers") or ())
    yield from search_problems(section(config, "train"), hook_list(config, keywords), in_code)


def values_are_filled_in(config: Settings, keywords: Settings) -> Iterator[Problem]:
    """Nothing may be left that a program should have filled in."""
    for path, value in leaves(config):
        if is_placeholder(value):
            found = f"found {value!r}, which stands for a value that a program fills in"
            yield Problem(path, found, kind="missing", fix="write the value, or set it in cfg_modify_fn")


RULES: tuple[Rule, ...] = (
    epochs_are_given,
    optimizer_is_given,
    losses_are_named,
    rates_are_finite,
    names_exist,
    hooks_exist,
    steps_once,
    one_strategy,
    plateau_is_told_its_metric,
    metrics_are_followed,
    metrics_are_given,
    one_tuner_section,
    lightning_can_search,
    values_are_filled_in,
)


def _unknown(registry: Registry, name: Any, key: str) -> Iterator[Problem]:
    if isinstance(name, str) and name and not is_placeholder(name):
        found = registry.problem(name, key)
        if found:
            yield found


def _type_key(hook: HookPlan) -> str:
    """The key that names a hook: its type, or the switch that added it."""
    if not hook.key:
        return ADDED_BY.get(hook.type, hook.type)
    return hook.key if hook.key == "train.use_fp16" else f"{hook.key}.type"
