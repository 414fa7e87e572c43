"""Which hooks a documented config asks for, in the order they are registered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

AMP_HOOKS = ("TorchAMPOptimizerHook", "ApexAMPOptimizerHook")
SHARED_WITH_AMP = ("cumulative_iters", "grad_clip", "loss_keys")
SEMANTIC_KEYS = {  # key of the documented config -> the hook it stands for
    "evaluation.period": "EvaluationHook",
    "train.checkpoint.best": "BestCkptSaverHook",
    "train.checkpoint.period": "CheckpointHook",
    "train.logging": "TextLoggerHook",
    "train.ema": "EMAHook",
}
SECTIONS = {"MegatronHook": "megatron"}  # hooks of the list whose arguments stand in a section of the config


@dataclass(frozen=True)
class HookPlan:
    """A hook that the config asks for.

    Attributes:
        type: Registered name or import path.
        args: Constructor arguments.
        key: Where it stands in the documented config; empty for one that training itself adds.
    """

    type: str
    args: dict[str, Any] = field(default_factory=dict)
    key: str = ""

    @property
    def steps(self) -> bool:
        """Whether it steps the optimizer or the scheduler, so that it is added when training begins."""
        by_itself = not self.key and self.type in (
            "OptimizerHook",
            "LrSchedulerHook",
            "TorchAMPOptimizerHook",
        )
        return by_itself or self.key in ("train.optimizer_hook", "train.lr_scheduler_hook", "train.use_fp16")


def hook_list(config: Mapping[str, Any], keywords: Mapping[str, Any]) -> list[HookPlan]:
    """Hooks in order of registration: those that step, those with a key of their own, then ``train.hooks``.

    Args:
        config: Documented config, old keys moved.
        keywords: Constructor keywords; ``use_fp16`` and ``launcher`` add hooks.
    """
    train = section(config, "train")
    found = train.get("hooks")
    entries = found if isinstance(found, list) else []
    listed = [
        _with_section(_entry(item, f"train.hooks[{index}]"), config)
        for index, item in enumerate(entries)
        if isinstance(item, Mapping) and item.get("type")
    ]
    hooks = [
        *_optimizer_hooks(train, _fp16(train, keywords)),
        *_scheduler_hooks(train),
        *_semantic_hooks(config),
        *listed,
    ]
    launcher = keywords.get("launcher")
    if launcher and not any(hook.type == "DDPHook" for hook in hooks):
        hooks.append(HookPlan("DDPHook", {"launcher": launcher}))
    return hooks


def section(config: Any, path: str) -> dict[str, Any]:
    """The mapping at a dotted path, empty when it is absent, null or no mapping."""
    for step in path.split("."):
        config = config.get(step) if isinstance(config, Mapping) else None
    return dict(config) if isinstance(config, Mapping) else {}


def is_amp(train: Mapping[str, Any]) -> bool:
    """Whether ``train.optimizer_hook`` asks for mixed precision itself."""
    return section(train, "optimizer_hook").get("type") in AMP_HOOKS


def _fp16(train: Mapping[str, Any], keywords: Mapping[str, Any]) -> bool:
    """Whether ``use_fp16`` is on; a mixed precision hook of the config's own switches it off."""
    return bool(keywords.get("use_fp16", train.get("use_fp16"))) and not is_amp(train)


def _optimizer_hooks(train: Mapping[str, Any], fp16: bool) -> Iterator[HookPlan]:
    """OptimizerHook, or the hook of ``train.optimizer_hook`` in its place; mixed precision comes on top."""
    options, given = section(train, "optimizer.options"), section(train, "optimizer_hook")
    if is_amp(train):
        shared = {name: value for name, value in given.items() if name in SHARED_WITH_AMP}
        yield HookPlan("OptimizerHook", {**options, **shared})
    elif not given:
        yield HookPlan("OptimizerHook", options)
    if given:
        yield _entry(given, "train.optimizer_hook")
    if fp16:
        yield HookPlan("TorchAMPOptimizerHook", options, "train.use_fp16" if train.get("use_fp16") else "")


def _scheduler_hooks(train: Mapping[str, Any]) -> Iterator[HookPlan]:
    """LrSchedulerHook, or the hook of ``train.lr_scheduler_hook`` instead; the plateau hook comes on top."""
    given = section(train, "lr_scheduler_hook")
    if not given or given.get("type") == "PlateauLrSchedulerHook":
        yield HookPlan("LrSchedulerHook", section(train, "lr_scheduler.options"))
    if given:
        yield _entry(given, "train.lr_scheduler_hook")


def _semantic_hooks(config: Mapping[str, Any]) -> Iterator[HookPlan]:
    for path, hook in SEMANTIC_KEYS.items():
        parent, _, name = path.rpartition(".")
        given = section(config, parent).get(name)
        if isinstance(given, Mapping) or given is True:
            yield _entry({"type": hook, **section(config, path)}, path)
    loggers = section(config, "train").get("loggers")
    if loggers:
        yield HookPlan("LoggersHook", {"loggers": loggers}, "train")  # the argument has the key's own name


def _with_section(hook: HookPlan, config: Mapping[str, Any]) -> HookPlan:
    """The hook, with the arguments that a section of its own holds."""
    name = SECTIONS.get(hook.type)
    return replace(hook, args={**section(config, name), **hook.args}) if name else hook


def _entry(item: Mapping[str, Any], key: str) -> HookPlan:
    return HookPlan(str(item.get("type") or ""), {name: value for name, value in item.items() if name != "type"}, key)
