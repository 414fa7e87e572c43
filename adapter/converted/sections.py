"""Between a documented config and the arguments of the classes of a Lightning CLI file; each way loses nothing."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapter.config import Config
from adapter.config.config_dict import unwrapped
from adapter.dialects.move import has_room
from adapter.schema.hook_list import SEMANTIC_KEYS, HookPlan, hook_list, section

LISTED, FP16 = "train.hooks", "train.use_fp16"
# Hook -> the key that holds its arguments; the others stand in the list of hooks.
PLACES = {
    "OptimizerHook": "train.optimizer.options",
    "LrSchedulerHook": "train.lr_scheduler.options",
    **{hook: key for key, hook in SEMANTIC_KEYS.items()},
}
# Argument of the class -> the key of the config it stands for.
MODEL_KEYS = {
    "task": "task",
    "model": "model",
    "optimizer": "train.optimizer",
    "lr_scheduler": "train.lr_scheduler",
    "metrics": "evaluation.metrics",
}
DATA_KEYS = {
    "dataset": "dataset",
    "preprocessor": "preprocessor",
    "train_loader": "train.dataloader",
    "eval_loader": "evaluation.dataloader",
}
# Argument of lightning.Trainer -> the key it stands for.
TRAINER_KEYS = {
    "max_epochs": "train.max_epochs",
    "limit_train_batches": "train.train_iters_per_epoch",
    "limit_val_batches": "evaluation.val_iters_per_epoch",
    "default_root_dir": "train.work_dir",
}
REST = ("train", "evaluation")  # sections of which the keys that have no argument of their own are kept together
# What takes the place of a hook that training would add by itself, when the file does not list it.
NONE_HOOKS = {"train.optimizer_hook": "NoneOptimizerHook", "train.lr_scheduler_hook": "NoneLrSchedulerHook"}


@dataclass(frozen=True)
class HookEntry:
    """A hook as a file lists it.

    Attributes:
        type: Registered name or import path.
        args: Constructor arguments; None when the config says nothing of them.
        key: Where it stands in the config; empty for the place of its type.
    """

    type: str
    args: dict[str, Any] | None = None
    key: str = ""


@dataclass(frozen=True)
class Sections:
    """The parts of a config, by the class that gets them.

    Attributes:
        model: Arguments of ConfigModel.
        data: Arguments of ConfigData.
        trainer: Arguments of ``lightning.Trainer``.
        hooks: In order of registration.
    """

    model: dict[str, Any]
    data: dict[str, Any]
    trainer: dict[str, Any]
    hooks: tuple[HookEntry, ...]


def split(config: Config) -> Sections:
    """The parts of a documented config whose old keys have been moved."""
    rest = copy.deepcopy(config)
    hooks = tuple(_entries(config))
    for entry in hooks:
        for place in _places(entry):
            _take(rest, place)
    _take(rest, LISTED)
    model, data, trainer = (_taken(rest, keys) for keys in (MODEL_KEYS, DATA_KEYS, TRAINER_KEYS))
    plain = rest.to_dict()
    for name in REST:
        left = _without_empty(plain.pop(name, None))
        if left:
            model[name] = left
    if plain:
        model["other"] = plain
    return Sections(model, data, trainer, hooks)


def join(sections: Sections) -> dict[str, Any]:
    """The documented config that sections are of.

    What training would do by itself is only done when it is listed: without an OptimizerHook nothing is stepped.
    """
    config = Config(sections.model.get("other") or {})
    for keys, values in ((MODEL_KEYS, sections.model), (DATA_KEYS, sections.data), (TRAINER_KEYS, sections.trainer)):
        for argument, key in keys.items():
            if values.get(argument) is not None:
                _put(config, key, values[argument])
    config.update({name: copy.deepcopy(sections.model[name]) for name in REST if sections.model.get(name)})
    _put_hooks(config, sections.hooks)
    return config.to_dict()


def _put_hooks(config: Config, entries: Sequence[HookEntry]) -> None:
    listed = []
    for entry in entries:
        key, args = entry.key or PLACES.get(entry.type, LISTED), dict(entry.args or {})
        if key == FP16:
            _put(config, key, True)
        elif key == LISTED:
            listed.append({"type": entry.type, **args})
        elif key in NONE_HOOKS:
            _put(config, key, {"type": entry.type, **args})
        elif entry.args is not None:
            _put(config, key, args)
    _put(config, LISTED, listed)
    for key, none_hook in NONE_HOOKS.items():
        added = none_hook.removeprefix("None")
        if not any(entry.type == added or entry.key == key for entry in entries):
            _put(config, key, {"type": none_hook})


def _entries(config: Config) -> Iterator[HookEntry]:
    for hook in hook_list(config, {}):
        place = PLACES.get(hook.type, LISTED)
        key = LISTED if hook.key.startswith(f"{LISTED}[") else hook.key or place
        yield HookEntry(hook.type, _arguments(config, hook, key), "" if key == place else key)


def _places(entry: HookEntry) -> list[str]:
    """The keys that say something of a hook alone: its place, or its arguments' in a section that has more."""
    key = entry.key or PLACES.get(entry.type, LISTED)
    return [f"{key}.{name}" for name in entry.args or ()] if key in REST else [key]


def _arguments(config: Config, hook: HookPlan, key: str) -> dict[str, Any] | None:
    """The arguments that stand at a hook's place; those that it takes over from another place are not repeated."""
    if key == FP16:
        return None
    if key == LISTED:
        return hook.args or None
    if hook.key:
        return hook.args
    options = config.safe_get(key)
    return dict(options) if isinstance(options, Mapping) else None


def _taken(config: Config, keys: Mapping[str, str]) -> dict[str, Any]:
    """The values at the keys, by argument, taken out of the config."""
    return {name: value for name, key in keys.items() if (value := _take(config, key)) is not None}


def _take(config: Config, key: str) -> Any:
    above, _, name = key.rpartition(".")
    holder = config.safe_get(above) if above else config
    value = holder.pop(name, None) if isinstance(holder, dict) else None
    return unwrapped(value)


def _put(config: Config, key: str, value: Any) -> None:
    above, _, name = key.rpartition(".")
    if above and not section(config, above) and has_room(config, key):
        _put(config, above, {})
    holder = config.safe_get(above) if above else config
    current = holder.get(name)
    if isinstance(current, dict) and isinstance(value, Mapping):
        current.update(copy.deepcopy(dict(value)))
    else:
        holder[name] = copy.deepcopy(value)


def _without_empty(value: Any) -> Any:
    """The mapping less the mappings in it that everything has been taken out of."""
    if not isinstance(value, Mapping):
        return value
    kept = {key: _without_empty(item) for key, item in value.items()}
    return {key: item for key, item in kept.items() if item != {}}
