"""EpochBasedTrainer: the documented trainer, over the same pipeline that ``adapter fit`` runs."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import lightning as L
import torch
from torch import nn
from torch.optim import Optimizer
from torch.utils.data import Sampler

from adapter.components import check_components
from adapter.config import Config
from adapter.data.stream import TrainingStream
from adapter.dialects import detect
from adapter.dialects.model_directory import take_directory
from adapter.dialects.move import notices
from adapter.failures import shared_failures
from adapter.hooks.hook import Hook
from adapter.hooks.swift import SwiftHook
from adapter.keywords import LIMITS, PLAN_KEYWORDS, check_keywords, unknown_keywords
from adapter.lightning import engine, search
from adapter.lightning.arguments import count_processes, refuse_decided_elsewhere
from adapter.lightning.module import TrainingModule
from adapter.lightning.strategies.choice import choose_strategy
from adapter.metrics.metric import Metric
from adapter.models.directory import config_in, model_directory, named_directory
from adapter.models.gradient_checkpointing import checkpoint_gradients
from adapter.models.modelscope_model import built_by_transformers, directory_of
from adapter.plan import TunersPlan, check_writable, make_plan, settle_work_dir
from adapter.prepare import Prepared, check, load, located, prepare, refuse_untrusted, unread_keys
from adapter.processes import Processes
from adapter.registry import TRAINERS
from adapter.run_log import run_logger
from adapter.seeding import seed_everything
from adapter.trainer_data import by_mode
from adapter.trainer_runs import TrainerRuns
from adapter.tuners import Tuners, check_merge, read_tuners
from adapter.user_code import declared_imports, import_user_code


@TRAINERS.register_module(module_name="trainer")
class EpochBasedTrainer(TrainerRuns):
    """Trains a model by epochs, with hooks, as a config says; the loop, the device and the precision are Lightning's.

    Args:
        model: A model; or a local model directory, or the name of one on ModelScope's hub, whose ``configuration.json``
            is the default ``cfg_file``; or None to build what the config's ``model`` section names, from the config's
            own folder where that is a model directory.
        cfg_file: Config file (JSON, YAML), or a config that has been read already. Needed when ``model`` is an object.
        cfg_modify_fn: Changes the config in code: gets it, and changes it in place or returns another; or
            ``TrainingArgs``.
        arg_parse_fn: Gets the config, as the file says, as words of a command line (``["--train.max-epochs", "3"]``)
            and returns ``trainer.args``.
        data_collator: From a list of samples to a batch; or ``{train, val}``. torch's ``default_collate`` by default.
        train_dataset: Data set, or a list of them that is joined; None takes the config's ``dataset.train``.
        eval_dataset: The same for evaluation, ``dataset.val``.
        preprocessor: Applied to each sample; or ``{train, val}``.
        optimizers: Optimizer and scheduler, in place of the config's; or mappings of several, by name.
        model_revision: Revision of a model that is downloaded.
        seed: Of every random number generator; set first of all.
        callbacks: Hooks of the user's own, and Lightning callbacks.
        samplers: Sampler of the data loaders; or ``{train, val}``.
        efficient_tuners: Adapters on the model, which alone are trained: a config of peft or ms-swift,
            ``{"type": "lora", "target_modules": [...]}`` for one of peft, or a mapping from names to such.
        kwargs: ``max_epochs``, ``train_iters_per_epoch``, ``val_iters_per_epoch``, ``work_dir``, ``use_fp16``,
            ``launcher``, ``fast_dev_run``: win over the config's keys. ``device`` (``cpu``, ``gpu``, ``cuda:1``):
            Lightning chooses by default. ``remove_unused_data``: drop what the model's forward does not take.
            ``compile``, ``compile_options``: ``torch.compile``. ``trust_remote_code``: allow code that a config names.
            ``purpose``: ``evaluate`` and ``predict`` build no training data; to predict, rows need no labels.
            ``cfg_options``: dotted key to value, on top of the config. ``trainer_args``: arguments for
            ``lightning.Trainer``, which win over all.

    Attributes:
        model: The model.
        found: What a search before training found, by key of the config.
        optimizer: The optimizer, once training has begun.
        lr_scheduler: The scheduler, once training has begun.
        train_outputs: What the model returned in this iteration.
        data_batch: The batch of this iteration, on the device.
        train_dataloader: Training loader, once training has begun.
        eval_dataloader: Evaluation loader, once an evaluation has begun.
        hooks: The hooks in run order.
        plan: What Lightning gets.
        prepared: The config as it was read and as it is used.

    Raises:
        ConfigError: The config cannot be run as written; every problem at once, before anything is built or written.
    """

    def __init__(
        self,
        model: nn.Module | str | None = None,
        cfg_file: str | os.PathLike[str] | Mapping[str, Any] | None = None,
        cfg_modify_fn: Callable[[Config], Any] | None = None,
        arg_parse_fn: Callable[[list[str]], Any] | None = None,
        data_collator: Callable[..., Any] | Mapping[str, Callable[..., Any]] | None = None,
        train_dataset: Any = None,
        eval_dataset: Any = None,
        preprocessor: Any = None,
        optimizers: tuple[Optimizer | None, Any] = (None, None),
        model_revision: str | None = None,
        seed: int = 42,
        callbacks: Sequence[Hook | L.Callback] | None = None,
        samplers: Sampler[Any] | Mapping[str, Sampler[Any]] | None = None,
        efficient_tuners: Any = None,
        **kwargs: Any,
    ) -> None:
        check_keywords(
            {
                **{"cfg_modify_fn": cfg_modify_fn, "arg_parse_fn": arg_parse_fn, "data_collator": data_collator},
                **{"preprocessor": preprocessor, "optimizers": optimizers, "callbacks": callbacks},
                **{"samplers": samplers, **kwargs},
            }
        )
        seed_everything(seed)
        self._seed = seed
        self.model_dir = model_directory(model, model_revision)
        if cfg_file is None and self.model_dir is None:
            raise ValueError("cfg_file is needed unless `model` is a model directory")
        trust = bool(kwargs.get("trust_remote_code", False))
        source = cfg_file if cfg_file is not None else os.path.join(self.model_dir or "", "configuration.json")
        super().__init__(source, arg_parse_fn, trust)
        self._init_state(kwargs)
        self.cfg_modify_fn = cfg_modify_fn
        self.prepared = prepared = self.prepare_config(kwargs.get("cfg_options"))
        if model is None and detect(prepared.original) != "run":
            self.model_dir = self._directory_of_config(prepared, model_revision)
        check(prepared, {**self._keywords, **self._in_code(model, optimizers), "train_dataset": True})
        self.cfg = prepared.config
        self.work_dir = settle_work_dir(self.cfg, self._keywords.get("work_dir"))
        check_writable(self.work_dir)
        self.optimizers = optimizers
        self._samplers = by_mode(samplers, "samplers")
        with located(prepared):
            first = self._settle(efficient_tuners, callbacks or [])
            self.data_of_config = train_dataset is None
            self.labels = self.read_labels(self.data_of_config, not isinstance(model, nn.Module))
            self._take_model(model, first.strategy.root_device, kwargs)
            self.strategy.check(self)
            self._take_data(train_dataset, eval_dataset, preprocessor)
        collators = self.get_data_collator(data_collator, bool(kwargs.get("remove_unused_data")))
        self.train_data_collator, self.eval_data_collator = collators
        self.settle_epochs()
        self._notes = notices(prepared.moves)
        self._warnings = [*self._own_warnings(kwargs), *unread_keys(prepared, self._keywords)]
        self._connect(first)
        with shared_failures(self.processes):
            self.invoke_hook("after_init")

    def prepare_config(self, options: Mapping[str, Any] | None) -> Prepared:
        """The config on its documented keys, changed in code and with options on top."""
        return prepare(self.cfg, self.rebuild_config, options)

    def _directory_of_config(self, prepared: Prepared, revision: str | None) -> str | None:
        """The model directory that the config itself tells of; one that it names in short may be downloaded."""
        config, named = prepared.config, prepared.original.get("model")
        if isinstance(named, str) and named_directory(config.model, self.base_dir) is None:
            config.model.path = model_directory(named, revision)
            take_directory(config)
        return directory_of(config.get("model") or {}, self.config_dir)

    def _settle(self, efficient_tuners: Any, callbacks: Sequence[Any]) -> L.Trainer:
        """Plan, strategy and hooks, before anything large is built.

        Returns:
            A first Lightning trainer, made so that what Lightning refuses is refused now.
        """
        self.plan = make_plan(self.cfg, self._keywords)
        self.tuners = self._read_tuners(efficient_tuners)
        self.tuners_key = TunersPlan.key if efficient_tuners is not None else self.plan.tuners.key
        own_evaluation = type(self).evaluate is not EpochBasedTrainer.evaluate
        built = check_components(self.plan, self.optimizers, own_evaluation)
        processes = count_processes(self)
        self.strategy = choose_strategy(self.plan, self.trainer_args.get("strategy"), processes)
        search.refuse(self, processes)
        first = engine.build_trainer(self)
        self.processes = Processes(first.global_rank, first.world_size)
        self.logger = run_logger(Path(self.work_dir, f"{self.timestamp}.log"), self.is_main_process)
        self._register_hooks(built, callbacks)
        self.tuners = self.tuners or next((hook.tuners for hook in self.hooks if isinstance(hook, SwiftHook)), {})
        if self.plan.tuners.merge:
            check_merge(self.tuners, self.plan.tuners.key)
        return first

    def _own_warnings(self, kwargs: Mapping[str, Any]) -> list[str]:
        """What is doubtful about the run, besides keys that nobody reads."""
        found = [*self.plan.warnings, *unknown_keywords(kwargs, inspect.signature(EpochBasedTrainer).parameters)]
        found += filter(None, [built_by_transformers(self.plan.model, self.model_dir)])
        drawn = type(self).visualization is not EpochBasedTrainer.visualization
        if self.cfg.safe_get("evaluation.visualization") and not drawn:
            found.append(f"evaluation.visualization has no effect: {type(self).__name__} draws nothing")
        return found

    def _connect(self, first: L.Trainer) -> None:
        """Reach the other processes, when there are any; from here on they agree on what they do."""
        if self.processes.size > 1:
            with located(self.prepared):
                engine.connect(self, first)
            self.timestamp = self.processes.broadcast(self.timestamp)
            self.log_buffer.gather = self.processes.gather

    def _read_tuners(self, efficient_tuners: Any) -> Tuners:
        """The adapters of the keyword, else of the config's section."""
        if efficient_tuners is not None:
            return read_tuners(efficient_tuners)
        asked = self.plan.tuners
        return read_tuners(asked.adapters, asked.key) if asked.adapters else {}

    def _take_model(self, model: Any, device: torch.device, kwargs: Mapping[str, Any]) -> None:
        """The model that was passed, or the config's, on its device and compiled when asked for."""
        self.model: nn.Module = model if isinstance(model, nn.Module) else self.build_model()
        if self.tuners:
            self.tune_module(self.tuners)
        if self.plan.gradient_checkpointing is not None:
            checkpoint_gradients(self.model, **self.plan.gradient_checkpointing)
        if not self.strategy.replaces_parameters:  # one that does may have parts on the device only
            self.model.to(device)
        if kwargs.get("compile"):
            self.model.compile(**(kwargs.get("compile_options") or {}))
        self.module = self._make_module()

    def _make_module(self) -> TrainingModule:
        """The LightningModule around the model."""
        return TrainingModule(self, self.model)

    def _take_data(self, train_dataset: Any, eval_dataset: Any, preprocessor: Any) -> None:
        """The data sets that were passed, or the config's; evaluation data only when there is something to evaluate."""
        self.train_preprocessor, self.eval_preprocessor = self.get_preprocessors(preprocessor)
        trains = train_dataset is not None or self.purpose == "train"
        self.train_dataset = self.build_dataset(train_dataset, "train", self.train_preprocessor) if trains else None
        self.eval_dataset = eval_dataset
        if eval_dataset is not None or (self._evaluates() and self.purpose == "train"):
            self.eval_dataset = self.build_dataset(eval_dataset, "val", self.eval_preprocessor)
        self._check_lengths()

    def _in_code(self, model: Any, optimizers: tuple[Any, Any]) -> dict[str, Any]:
        """What the config need not name, because it is passed as an object or made by a subclass."""
        own, base = type(self), EpochBasedTrainer
        made = isinstance(model, nn.Module) or own.build_model is not base.build_model
        stepped = own.create_optimizer_and_scheduler is not base.create_optimizer_and_scheduler
        return {
            "model": made or None,
            "model_dir": self.model_dir,
            "optimizers": (True, True) if stepped else optimizers,
        }

    def _init_state(self, kwargs: Mapping[str, Any]) -> None:
        """Counters, and what training and evaluation fill in."""
        self.purpose: str = kwargs.get("purpose") or "train"
        self._keywords = {name: kwargs[name] for name in PLAN_KEYWORDS if kwargs.get(name) is not None}
        if isinstance(kwargs.get("work_dir"), os.PathLike):
            self._keywords["work_dir"] = os.fspath(kwargs["work_dir"])
        self.requested_device: str | None = kwargs.get("device")
        self.trainer_args = dict(kwargs.get("trainer_args") or {})
        for limit, keyword in LIMITS.items():
            if isinstance(self.trainer_args.get(limit), int):
                self._keywords[keyword] = self.trainer_args.pop(limit)
        if "fast_dev_run" in self.trainer_args:
            self._keywords["fast_dev_run"] = self.trainer_args.pop("fast_dev_run")
        self._engine: L.Trainer | None = None
        self.all_data = False  # whether an evaluation is to use its data to their end
        self._printed = False
        self.cumulative_iters = 1
        self.optimizer: Any = None
        self.lr_scheduler: Any = None
        self.resumed_from: Mapping[str, Any] | None = None
        self.resumed_pair: Path | None = None
        self.found: dict[str, Any] = {}
        self.stream = TrainingStream(())
        self.train_dataloader: Any = None
        self.eval_dataloader: Any = None
        self.data_loader: Any = None
        self.data_batch: Any = None
        self.train_outputs: Any = None
        self.metric_values: dict[str, Any] | None = None
        self.last_losses: dict[str, float] = {}
        self._metrics: list[Metric] = []
        self._saving_fn: Callable[..., Any] | None = None
        self._visualization: Mapping[str, Any] | None = None

    def _register_hooks(self, built: Sequence[Hook], callbacks: Sequence[Any]) -> None:
        """The config's hooks, then the user's; Lightning callbacks among them go to Lightning."""
        for planned, hook in zip(self.plan.hooks, built, strict=True):
            if not planned.steps:
                self.register_hook(hook)
        native = [callback for callback in callbacks if isinstance(callback, L.Callback)]
        for callback in callbacks:
            if not isinstance(callback, L.Callback):
                self.register_hook(callback)
        if native:
            self.trainer_args["callbacks"] = [*native, *(self.trainer_args.get("callbacks") or [])]
            refuse_decided_elsewhere(self.trainer_args)


def build_trainer(name: str = "trainer", default_args: Mapping[str, Any] | None = None) -> EpochBasedTrainer:
    """A registered trainer.

    Args:
        name: Its name; ``trainer`` is EpochBasedTrainer, or RunTrainer for a config with a ``run:`` section.
        default_args: Arguments of its constructor.

    Raises:
        ConfigError: Unknown name, or a config that cannot be run as written.
        RuntimeError: The config, or that of the model directory, declares ``plugins`` or ``allow_remote`` and
            ``trust_remote_code`` is not True.
    """
    args = dict(default_args or {})
    trust = bool(args.get("trust_remote_code"))
    directory = model_directory(args.get("model"), args.get("model_revision"))
    if directory is not None:
        args["model"] = directory
    dialects = []
    for source in filter(None, (config_in(directory), args.get("cfg_file"))):
        cfg = load(source, trust)
        refuse_untrusted(cfg, trust)
        import_user_code(declared_imports(cfg, trust))
        dialects.append(detect(cfg))
    if name == "trainer" and dialects[-1:] == ["run"]:
        name = "adapter.runner.trainer.RunTrainer"
    return TRAINERS.resolve(name, "trainer")(**args)
