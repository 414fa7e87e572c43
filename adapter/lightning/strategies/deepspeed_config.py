"""DeepSpeed's config: read, filled in from the run's own, and refused where the two say different things."""

from __future__ import annotations

import copy
import inspect
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adapter.config.config_dict import unwrapped
from adapter.errors import ConfigError, Problem
from adapter.plan import Component, Plan
from adapter.registry import OPTIMIZERS

AUTO = "auto"
DEFAULT_STAGE = 2
STAGES = (0, 1, 2, 3)
COMPARED = ("lr", "betas", "eps", "weight_decay", "momentum")  # parameters of an optimizer that make a difference
ADAM = ("adam", "adamw", "fusedadam", "deepspeedcpuadam")
HALF = {"fp16": "16-mixed", "bf16": "bf16-mixed"}  # section of DeepSpeed's config -> Lightning's name
SECTION = {"16": "fp16", "bf16": "bf16"}
FIX = 'write "auto" there, or the same value in both places'


@dataclass(frozen=True)
class Facts:
    """What the run's own config says of things that DeepSpeed's config has keys for.

    Attributes:
        values: Dotted key of DeepSpeed's config -> its value, and the key of ours that says so.
        optimizer: The run's optimizer; None for one that is passed as an object.
        has_schedule: Whether the run's config has a schedule of its own.
    """

    values: Mapping[str, tuple[Any, str]]
    optimizer: Component | None
    has_schedule: bool


def facts_of(plan: Plan, processes: int) -> Facts:
    """What a plan says, for so many processes."""
    options = stepping_options(plan)
    batch, accumulated = plan.train_loader.batch_size, options.get("cumulative_iters", 1)
    clip = (options.get("grad_clip") or {}).get("max_norm", 0.0)
    loader, option = "train.dataloader.batch_size_per_gpu", "train.optimizer.options"
    values: dict[str, tuple[Any, str]] = {
        "train_micro_batch_size_per_gpu": (batch, loader),
        "gradient_accumulation_steps": (accumulated, f"{option}.cumulative_iters"),
        "train_batch_size": (batch * accumulated * processes, f"{loader} * cumulative_iters * {processes} processes"),
        "gradient_clipping": (float(clip), f"{option}.grad_clip.max_norm"),
    }
    return Facts(values, plan.optimizer, plan.lr_scheduler is not None)


def stepping_options(plan: Plan) -> dict[str, Any]:
    """Arguments of the hook that steps the optimizer."""
    found = (hook.args for hook in plan.hooks if hook.steps and "OptimizerHook" in hook.type)
    return next(found, {})


def read_config(config: str | Mapping[str, Any] | None, key: str) -> dict[str, Any]:
    """DeepSpeed's config as the user gives it, a file or a mapping; empty for None.

    Raises:
        ConfigError: No such file, or no JSON object in it.
    """
    if config is None or isinstance(config, Mapping):
        return unwrapped(config or {})  # DeepSpeed saves it in its checkpoints, which load plain types alone
    path = Path(config)
    if not path.is_file():
        raise ConfigError(Problem(key, f"no file '{config}'", fix="name DeepSpeed's JSON file, or write a mapping"))
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConfigError(Problem(key, f"'{config}' is not JSON: {error}")) from error
    if not isinstance(found, dict):
        raise ConfigError(Problem(key, f"'{config}' holds no JSON object"))
    return found


def settled(
    given: Mapping[str, Any], stage: int | None, facts: Facts, key: str
) -> tuple[dict[str, Any], list[Problem]]:
    """DeepSpeed's config with everything filled in that is known before the data are.

    The optimizer is the run's own, so DeepSpeed's section of it is compared and left out; a schedule of DeepSpeed's
    stays, to be stepped by its engine.

    Args:
        given: What the user wrote.
        stage: ZeRO stage that the hook asks for.
        facts: What the run's own config says.
        key: Where DeepSpeed's config stands, for error messages.

    Returns:
        The config, and what is wrong with it: everything that differs, and ``"auto"`` that nobody fills in.
    """
    config = copy.deepcopy(dict(given))
    problems = [*_set_stage(config, stage, key)]
    for name, (value, source) in facts.values.items():
        problems += _fill(config, name, value, source, key)
    problems += _compare_optimizer(config.pop("optimizer", None), facts.optimizer, f"{key}.optimizer")
    problems += _settle_schedule(config, facts, f"{key}.scheduler")
    zero = config["zero_optimization"]
    for name in [name for name, value in zero.items() if value == AUTO]:
        del zero[name]  # sizes of buffers, for which DeepSpeed has defaults
    problems += _offload(zero, config, facts.optimizer, key)
    later = ("scheduler", *HALF)
    rest = [path for path in _autos(config) if path.partition(".")[0] not in later]
    problems += [
        Problem(f"{key}.{path}", 'found "auto", which nothing here fills in', fix="write a value") for path in rest
    ]
    config.setdefault("zero_allow_untested_optimizer", True)
    return config, problems


def _set_stage(config: dict[str, Any], stage: int | None, key: str) -> Iterator[Problem]:
    zero = dict(config.get("zero_optimization") or {})
    config["zero_optimization"] = zero
    written = zero.get("stage", AUTO)
    asked = [value for value in (stage, None if written == AUTO else written) if value is not None]
    for value in asked:
        if value not in STAGES or isinstance(value, bool):
            where = "zero_stage" if value == stage else "config.zero_optimization.stage"
            yield Problem(f"{key.removesuffix('.config')}.{where}", f"found {value!r}", ", ".join(map(str, STAGES)))
    if len(set(asked)) > 1:
        yield Problem(f"{key}.zero_optimization.stage", f"found {written}, but zero_stage is {stage}", fix=FIX)
    zero["stage"] = asked[0] if asked else DEFAULT_STAGE


def _fill(config: dict[str, Any], name: str, value: Any, source: str, key: str) -> Iterator[Problem]:
    """Put a value that the run's config has too; refuse another."""
    written = config.get(name, AUTO)
    if written != AUTO and written != value:
        yield Problem(f"{key}.{name}", f"found {written}, but {source} is {value}", fix=FIX)
    config[name] = value


def _compare_optimizer(section: Any, own: Component | None, key: str) -> Iterator[Problem]:
    """DeepSpeed's section must name the optimizer that the run has."""
    if not isinstance(section, Mapping) or own is None:
        return
    params = dict(section.get("params") or {})
    kind, name = str(section.get("type", AUTO)), own.type.rpartition(".")[2]
    if not _same_kind(kind, name, params, _argument(own, "weight_decay")):
        yield Problem(f"{key}.type", f"found {kind}, but train.optimizer.type is {name}", fix=FIX)
        return
    for parameter in COMPARED:
        written, ours = params.get(parameter, AUTO), _argument(own, parameter)
        if written != AUTO and _plain(written) != _plain(ours):
            yield Problem(f"{key}.params.{parameter}", f"found {written}, but train.optimizer has {ours}", fix=FIX)


def _same_kind(kind: str, name: str, params: Mapping[str, Any], weight_decay: Any) -> bool:
    """Whether DeepSpeed's name means the optimizer; its Adam decays weights as AdamW does, unless told otherwise."""
    theirs, ours = kind.lower(), name.lower()
    if theirs == AUTO or theirs == ours != "adam":
        return True
    if theirs not in ADAM or ours not in ADAM:
        return theirs == ours
    decoupled = theirs != "adam" or params.get("adam_w_mode", True)
    return not weight_decay or decoupled == (ours != "adam")


def _argument(own: Component, name: str) -> Any:
    """An argument of the run's optimizer, or its default."""
    if name in own.args:
        return own.args[name]
    parameter = inspect.signature(OPTIMIZERS.resolve(own.type)).parameters.get(name)
    return None if parameter is None or parameter.default is parameter.empty else parameter.default


def _plain(value: Any) -> Any:
    return [float(each) for each in value] if isinstance(value, (list, tuple)) else value


def _settle_schedule(config: dict[str, Any], facts: Facts, key: str) -> Iterator[Problem]:
    """A schedule has one owner; that of DeepSpeed's starts from the run's learning rate."""
    section = config.get("scheduler")
    if not section:
        config.pop("scheduler", None)
        return
    if facts.has_schedule:
        yield Problem(key, "train.lr_scheduler is given too, and only one can set the rate", fix="remove one of them")
    params = dict(section.get("params") or {})
    config["scheduler"] = {**section, "params": params}
    rate = facts.optimizer and _argument(facts.optimizer, "lr")
    if params.get("warmup_max_lr") == AUTO:
        params["warmup_max_lr"] = rate
    if params.get("warmup_min_lr") == AUTO:
        params["warmup_min_lr"] = 0.0


def _offload(zero: Mapping[str, Any], config: Mapping[str, Any], own: Component | None, key: str) -> Iterator[Problem]:
    """An offloaded optimizer runs on the CPU, for which DeepSpeed wants its own."""
    offload = zero.get("offload_optimizer") or {}
    offloaded = offload.get("device", "none") != "none"
    strict = offloaded and config.get("zero_force_ds_cpu_optimizer", True)
    if strict and own is not None and not own.type.endswith("DeepSpeedCPUAdam"):
        found = f"an offloaded optimizer, but train.optimizer.type is {own.type}"
        fix = "use DeepSpeedCPUAdam, or set zero_force_ds_cpu_optimizer to false in DeepSpeed's config"
        yield Problem(f"{key}.zero_optimization.offload_optimizer", found, fix=fix)


def _autos(config: Mapping[str, Any], path: str = "") -> Iterator[str]:
    for name, value in config.items():
        where = f"{path}.{name}" if path else name
        if isinstance(value, Mapping):
            yield from _autos(value, where)
        elif value == AUTO:
            yield where


def asks_for_steps(config: Mapping[str, Any]) -> bool:
    """Whether a schedule of DeepSpeed's wants to know the run's length."""
    return AUTO in ((config.get("scheduler") or {}).get("params") or {}).values()


def fill_steps(config: Mapping[str, Any], warmup_steps: int, total_steps: int) -> None:
    """Fill in what a schedule of DeepSpeed's needs to know of the run's length, in optimizer steps; in place."""
    params = (config.get("scheduler") or {}).get("params", {})
    for name, steps in (("warmup_num_steps", warmup_steps), ("total_num_steps", total_steps)):
        if params.get(name) == AUTO:
            params[name] = max(int(steps), 1)


def precision_of(config: Mapping[str, Any], asked: str, key: str) -> str:
    """Lightning's name for the number format, as DeepSpeed's config and the run's say.

    Args:
        config: DeepSpeed's config.
        asked: What the run's config, or the user, asks for; ``32-true`` where nobody asks.
        key: Where DeepSpeed's config stands.

    Raises:
        ConfigError: The two differ.
    """
    enabled = {name: (config.get(name) or {}).get("enabled", AUTO) for name in HALF}
    chosen = [name for name, value in enabled.items() if value is True]
    own = SECTION.get(asked.partition("-")[0])
    if own is None and len(chosen) == 1:
        return HALF[chosen[0]]
    differing = [name for name in chosen if name != own] + [own for own in (own,) if own and enabled[own] is False]
    if differing:
        found = f"found {enabled[differing[0]]}, but the run's precision is {asked}"
        raise ConfigError(Problem(f"{key}.{differing[0]}.enabled", found, fix=FIX))
    return asked


def set_precision(config: dict[str, Any], precision: str) -> None:
    """Switch on the section of the number format, and leave out the other; in place."""
    own = SECTION.get(precision.partition("-")[0])
    for name in HALF:
        section = config.pop(name, None) or {}
        if name == own:
            config[name] = {**{key: value for key, value in section.items() if value != AUTO}, "enabled": True}
