"""Plan: what Lightning will get, in names and plain arguments; nothing is built to make one.

``explain`` prints a plan, ``fit`` turns it into objects.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from adapter.config.config import Config
from adapter.dev_run import iterations_of, shortened
from adapter.errors import ConfigError, Problem
from adapter.hooks.apex_amp_optimizer import APEX_PRECISION
from adapter.hooks.hook import Hook
from adapter.hooks.priority import Priority, get_priority
from adapter.registry import HOOKS
from adapter.schema.field import documented_keys
from adapter.schema.hook_list import AMP_HOOKS, HookPlan, hook_list, section
from adapter.schema.metric_entries import default_metrics, metric_entries
from adapter.schema.schedule_length import schedule_length, warmup_length
from adapter.schema.search import SECTIONS, search_arguments
from adapter.schema.train import DataLoader
from adapter.schema.tuners import TUNER_OPTIONS, TUNER_SECTIONS

DEFAULT_WORK_DIR = "./work_dir"


@dataclass(frozen=True)
class Component:
    """Something to build: an optimizer, a schedule, a metric.

    Attributes:
        type: Registered name, library class or import path; empty when the config does not say.
        args: Constructor arguments.
        key: Where it stands in the documented config, for error messages.
    """

    type: str
    args: dict[str, Any] = field(default_factory=dict)
    key: str = ""


@dataclass(frozen=True)
class TunersPlan:
    """Adapters on the model.

    Attributes:
        adapters: What the config says of them: one, or several by name; empty for none.
        key: The section they stand in.
        save_trainable_only: Whether every checkpoint holds what is trained, and buffers, alone.
        merge: Whether the output folder has the weights of a model without adapters, which act as the model with them.
    """

    adapters: dict[str, Any] = field(default_factory=dict)
    key: str = "efficient_tuners"
    save_trainable_only: bool = False
    merge: bool = False


@dataclass(frozen=True)
class LoaderPlan:
    """A data loader. ``batch_size`` counts samples per process and ``num_workers`` processes.

    ``options`` holds every other ``torch.utils.data.DataLoader`` keyword.
    """

    batch_size: int = 1
    num_workers: int = 0
    shuffle: bool = False
    drop_last: bool = False
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """A run, before anything is built.

    Attributes:
        task: Task name, which selects the default metric; None when not given.
        max_epochs: Epochs; None when neither the config nor a keyword says.
        train_iters_per_epoch: Fixed number of training iterations an epoch; None for what the data give.
        val_iters_per_epoch: Fixed number of evaluation iterations; None for what the data give.
        work_dir: Folder that everything is written to.
        model: The model section.
        dataset: The dataset section.
        preprocessor: The preprocessor section: one, a list of steps, or one for each of train and val.
        optimizer: From the config; None when it names none.
        lr_scheduler: From the config; None when it names none.
        hooks: In run order, without the user's callbacks, with those that training itself adds.
        metrics: What evaluation computes; the task's default when the config names none.
        train_loader: Training data loader.
        eval_loader: Evaluation data loader.
        tuners: Adapters on the model.
        strategy: Name of the way several processes share the work, where a hook decides it; else ``auto``.
        strategy_args: Arguments of the hook that decides it.
        parallel: Arguments of DistributedDataParallel.
        precision: Lightning's name for the number format.
        loss_scale: Fixed loss scale of 16-mixed, or arguments of ``torch.amp.GradScaler``.
        gradient_checkpointing: Arguments of ``checkpoint_gradients``; None for no such thing.
        fast_dev_run: Iterations of a run that only shows whether everything works; 0 for a run in earnest.
        lr_find: Arguments of the search for a learning rate; None for no search.
        scale_batch_size: The same for a batch size.
        profiler: Name of Lightning's profiler, or the name and its arguments; None for none.
        trainer: Arguments for ``lightning.Trainer`` that the config decides.
        warnings: Sentences to print before the run.
    """

    task: str | None
    max_epochs: int | None
    train_iters_per_epoch: int | None
    val_iters_per_epoch: int | None
    work_dir: str
    model: dict[str, Any]
    dataset: dict[str, Any]
    preprocessor: Any
    optimizer: Component | None
    lr_scheduler: Component | None
    hooks: tuple[HookPlan, ...]
    metrics: tuple[Component, ...]
    train_loader: LoaderPlan
    eval_loader: LoaderPlan
    tuners: TunersPlan = TunersPlan()
    strategy: str = "auto"
    strategy_args: dict[str, Any] = field(default_factory=dict)
    parallel: dict[str, Any] = field(default_factory=dict)
    precision: str = "32-true"
    loss_scale: float | dict[str, Any] = field(default_factory=dict)
    gradient_checkpointing: dict[str, Any] | None = None
    fast_dev_run: int = 0
    lr_find: dict[str, Any] | None = None
    scale_batch_size: dict[str, Any] | None = None
    profiler: Any = None
    trainer: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def saves_trainable_only(self) -> bool:
        """Whether any checkpoint is to hold what is trained, and buffers, alone."""
        return self.tuners.save_trainable_only or any(hook.args.get("save_trainable_only") for hook in self.hooks)


LOADER_OPTIONS = documented_keys(DataLoader)


def make_plan(config: Config, keywords: Mapping[str, Any] | None = None) -> Plan:
    """The plan for a documented config whose old keys have been moved and whose values have been checked.

    Args:
        config: Config after ``dialects.modelscope.move_old_keys``.
        keywords: Constructor keywords, which win over the file: ``max_epochs``, ``work_dir``, ``use_fp16``,
            ``launcher``, ``train_iters_per_epoch``, ``val_iters_per_epoch``, ``fast_dev_run``. A None changes nothing.
    """
    given = {name: value for name, value in (keywords or {}).items() if value is not None}
    train, evaluation = section(config, "train"), section(config, "evaluation")
    asked = sorted(hook_list(config, given), key=run_order)
    trial = iterations_of(given.get("fast_dev_run", train.get("fast_dev_run")), asked)
    if trial:
        asked = list(shortened(asked))
        given |= {"max_epochs": 1, "train_iters_per_epoch": trial, "val_iters_per_epoch": trial}
    hooks = tuple(replace(hook, args=_read_arguments(hook)) for hook in asked)
    sharing = next((hook for hook in hooks if strategy_of(hook)), None)
    max_epochs = given.get("max_epochs", train.get("max_epochs"))
    train_iters = given.get("train_iters_per_epoch", train.get("train_iters_per_epoch"))
    val_iters = given.get("val_iters_per_epoch", evaluation.get("val_iters_per_epoch"))
    asked_of_lightning = {
        "max_epochs": max_epochs,
        "limit_train_batches": train_iters,
        "limit_val_batches": val_iters,
    }
    return Plan(
        task=config.get("task"),
        max_epochs=max_epochs,
        train_iters_per_epoch=train_iters,
        val_iters_per_epoch=val_iters,
        work_dir=given.get("work_dir") or train.get("work_dir") or DEFAULT_WORK_DIR,
        model=section(config, "model"),
        dataset=section(config, "dataset"),
        preprocessor=config.get("preprocessor"),
        optimizer=_component(config, "train.optimizer"),
        lr_scheduler=_component(config, "train.lr_scheduler"),
        hooks=hooks,
        metrics=_metrics(config),
        train_loader=loader_plan(section(train, "dataloader"), shuffle=True),
        eval_loader=loader_plan(section(evaluation, "dataloader"), shuffle=False),
        tuners=_tuners(config),
        strategy=strategy_of(sharing) if sharing else "auto",
        strategy_args=_beside(config, sharing.args) if sharing else {},
        parallel=_parallel(config),
        precision=_precision(hooks),
        loss_scale=_loss_scale(hooks),
        gradient_checkpointing=section(train, "gradient_checkpointing")
        if train.get("gradient_checkpointing")
        else None,
        fast_dev_run=trial,
        lr_find=None if trial else search_arguments(train, "lr_find"),
        scale_batch_size=None if trial else search_arguments(train, "scale_batch_size"),
        profiler=train.get("profiler"),
        trainer={name: value for name, value in asked_of_lightning.items() if value is not None},
        warnings=_unsearched(train) if trial else (*schedule_length(config, given), *warmup_length(config, given)),
    )


def _unsearched(train: Mapping[str, Any]) -> tuple[str, ...]:
    """A sentence for each search that a run of a few iterations does without."""
    asked = [key for key in SECTIONS if search_arguments(train, key) is not None]
    return tuple(f"train.{key}: nothing is searched for in a fast_dev_run" for key in asked)


def hook_class(name: str) -> type[Hook] | None:
    """The class of a hook; None when there is none, which the checks report."""
    try:
        return HOOKS.resolve(name)
    except ConfigError:
        return None


def strategy_of(hook: HookPlan) -> str:
    """Name of the strategy that a hook asks for; empty for the others."""
    cls = hook_class(hook.type)
    return cls.STRATEGY if cls else ""


def _beside(config: Config, args: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of a hook; a file that its ``config`` names is looked for beside the config file first."""
    named = args.get("config")
    if isinstance(named, str) and config.filename:
        beside = Path(config.filename).parent / named
        return {**args, "config": str(beside) if beside.is_file() else named}
    return dict(args)


def accepted_arguments(cls: type[Hook]) -> set[str] | None:
    """Names of a built-in hook's arguments; None for a class of the user's own, which answers for itself."""
    if not cls.__module__.startswith("adapter.hooks."):
        return None
    names: set[str] = set()
    for base in cls.__mro__:
        parameters = inspect.signature(base).parameters.values()
        names |= {item.name for item in parameters if item.kind in (item.POSITIONAL_OR_KEYWORD, item.KEYWORD_ONLY)}
        if not any(item.kind is item.VAR_KEYWORD for item in parameters):
            break
    return names


def _read_arguments(hook: HookPlan) -> dict[str, Any]:
    """The arguments that a hook takes; a built-in one is not given keys that it does not know."""
    cls = hook_class(hook.type)
    accepted = accepted_arguments(cls) if cls else None
    return {name: value for name, value in hook.args.items() if accepted is None or name in accepted}


def run_order(hook: HookPlan) -> tuple[int, int]:
    """Sort key of a hook: priority, then rank; equal ones keep their order of registration."""
    cls = hook_class(hook.type)
    return priority_of(hook), cls.RANK if cls else 0


def priority_of(hook: HookPlan) -> int:
    """Priority of a hook, as its class has it; NORMAL for one that nobody knows."""
    cls = hook_class(hook.type)
    return Priority.NORMAL.value if cls is None else get_priority(cls.PRIORITY)


def _component(config: Config, key: str) -> Component | None:
    """The optimizer or the schedule, less the options of the hook that steps it; None without such a section."""
    entry = section(config, key)
    if not entry:
        return None
    args = {name: value for name, value in entry.items() if name not in ("type", "options")}
    return Component(str(entry.get("type") or ""), args, key)


def _metrics(config: Config) -> tuple[Component, ...]:
    """The config's metrics, else the default ones of its task."""
    components = []
    for key, entry in metric_entries(config).items() or [("task", name) for name in default_metrics(config)]:
        args = dict(entry) if isinstance(entry, Mapping) else {"type": entry}
        components.append(Component(str(args.pop("type", "")), args, key=key))
    return tuple(components)


def loader_plan(entry: Mapping[str, Any], shuffle: bool) -> LoaderPlan:
    """The data loader of a ``dataloader`` section; ``shuffle`` is its default."""
    named = ("batch_size_per_gpu", "workers_per_gpu", "shuffle", "drop_last")
    return LoaderPlan(
        batch_size=entry.get("batch_size_per_gpu", 1),
        num_workers=entry.get("workers_per_gpu", 0),
        shuffle=entry.get("shuffle", shuffle),
        drop_last=entry.get("drop_last", False),
        options={name: value for name, value in entry.items() if name in LOADER_OPTIONS and name not in named},
    )


def _tuners(config: Config) -> TunersPlan:
    key = next((key for key in TUNER_SECTIONS if config.get(key)), TunersPlan.key)
    given = section(config, key)
    options = {name: bool(given.pop(name, False)) for name in TUNER_OPTIONS}
    return TunersPlan(given, key, **options)


def _parallel(config: Config) -> dict[str, Any]:
    """``parallel`` of the whole config, and of ``train``, which wins."""
    given = {**section(config, "parallel"), **section(config, "train.parallel")}
    return {name: value for name, value in given.items() if name != "type"}


def _precision(hooks: tuple[HookPlan, ...]) -> str:
    """Lightning's name for the number format that the optimizer's hook asks for."""
    for hook in hooks:
        if hook.type == "TorchAMPOptimizerHook":
            return "16-mixed"
        if hook.type == "ApexAMPOptimizerHook":
            return APEX_PRECISION.get(str(hook.args.get("opt_level", "O1")), "16-mixed")
        if hook.key == "train.optimizer_hook" and "precision" in hook.args:
            return str(hook.args["precision"])
    return "32-true"


def precision_key(plan: Plan) -> str:
    """Where a config asks for the number format of its run; the constructor's keyword when it does not."""
    asking = (hook for hook in plan.hooks if hook.type in AMP_HOOKS or "precision" in hook.args)
    return next((hook.key for hook in asking if hook.key), "use_fp16")


def _loss_scale(hooks: tuple[HookPlan, ...]) -> float | dict[str, Any]:
    found = next((hook.args.get("loss_scale") for hook in hooks if hook.type == "TorchAMPOptimizerHook"), None)
    return {} if found is None else found


def check_writable(work_dir: str) -> None:
    """Refuse a folder that cannot be written to, or made, before a run begins.

    Raises:
        ConfigError: A file is in the way, or the rights are missing; names the place.
    """
    place = Path(work_dir).absolute()
    while not place.exists() and place != place.parent:
        place = place.parent
    found = "is not a folder" if not place.is_dir() else "" if os.access(place, os.W_OK) else "cannot be written to"
    if found:
        fix = "choose another folder with --work-dir (work_dir=...)"
        raise ConfigError(Problem("train.work_dir", f"'{work_dir}' cannot be used: '{place}' {found}", fix=fix))


def settle_work_dir(config: Config, keyword: str | None) -> str:
    """The folder of a run, written into the config and into its sections that name a folder.

    Args:
        config: Documented config; changed in place.
        keyword: The constructor's ``work_dir``, which wins over everything. ``train.work_dir`` does not replace a
            folder that a section names itself.
    """
    work_dir = str(keyword or config.train.get("work_dir") or DEFAULT_WORK_DIR)
    config.train.work_dir = work_dir
    for path, key in (("checkpoint.period", "save_dir"), ("checkpoint.best", "save_dir"), ("logging", "out_dir")):
        arguments = config.safe_get(f"train.{path}")
        if arguments is not None and (keyword or not arguments.get(key)):
            arguments[key] = work_dir
    return work_dir
