"""EpochBasedTrainer: the documented trainer, over the same pipeline that ``adapter fit`` runs."""

from __future__ import annotations

import contextlib
import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import lightning as L
import torch
from torch import nn
from torch.optim import Optimizer
from torch.utils.data import Sampler

from adapter.checkpoint import files
from adapter.checkpoint.hub import without_tokens
from adapter.checkpoint.resume import restore_moment
from adapter.checkpoint.state import save_trainer_state, save_weights
from adapter.components import check_components
from adapter.config import Config
from adapter.data.loader import count_batches
from adapter.data.stream import TrainingStream
from adapter.dialects import detect
from adapter.dialects.model_directory import take_directory
from adapter.dialects.move import notices
from adapter.errors import ConfigError, Problem, nearest
from adapter.failures import shared_failures
from adapter.hooks.build import build_hook
from adapter.hooks.hook import Hook
from adapter.hooks.load_checkpoint import LoadCheckpointHook
from adapter.hooks.swift import SwiftHook
from adapter.keywords import check_keywords
from adapter.lightning import engine
from adapter.lightning.arguments import count_processes, refuse_decided_elsewhere
from adapter.lightning.interrupts import Interrupts
from adapter.lightning.module import TrainingModule
from adapter.lightning.strategies.choice import choose_strategy
from adapter.metrics.build import build_metrics, keep_apart
from adapter.metrics.metric import Metric, plain
from adapter.models.directory import config_in, model_directory, named_directory
from adapter.models.gradient_checkpointing import checkpoint_gradients
from adapter.models.modelscope_model import built_by_transformers, directory_of
from adapter.plan import check_writable, make_plan, settle_work_dir
from adapter.prepare import Prepared, check, load, located, prepare, refuse_untrusted, unread_keys
from adapter.processes import Processes
from adapter.registry import TRAINERS
from adapter.run_log import run_logger
from adapter.schema.hook_list import HookPlan
from adapter.seeding import seed_everything
from adapter.trainer_parts import by_mode
from adapter.trainer_steps import TrainerSteps
from adapter.tuners import Tuners, check_merge, read_tuners
from adapter.user_code import declared_imports, import_user_code

PLAN_KEYWORDS = (
    "max_epochs",
    "work_dir",
    "train_iters_per_epoch",
    "val_iters_per_epoch",
    "use_fp16",
    "launcher",
    "fast_dev_run",
)
# Lightning's own name for what a keyword says.
LIMITS = {"limit_train_batches": "train_iters_per_epoch", "limit_val_batches": "val_iters_per_epoch"}
OTHER_KEYWORDS = (
    "device",
    "remove_unused_data",
    "compile",
    "compile_options",
    "trust_remote_code",
    "cfg_options",
    "trainer_args",
    "gpu_collect",
    "cache_dir",
)


@TRAINERS.register_module(module_name="trainer")
class EpochBasedTrainer(TrainerSteps):
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
            ``cfg_options``: dotted key to value, on top of the config. ``trainer_args``: arguments for
            ``lightning.Trainer``, which win over all.

    Attributes:
        model: The model.
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
        self._settle_epochs()
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
        own_evaluation = type(self).evaluate is not EpochBasedTrainer.evaluate
        built = check_components(self.plan, self.optimizers, own_evaluation)
        self.strategy = choose_strategy(self.plan, self.trainer_args.get("strategy"), count_processes(self))
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
        found = [*self.plan.warnings, *_unknown_keywords(kwargs)]
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
        self.train_dataset = self.build_dataset(train_dataset, "train", self.train_preprocessor)
        self.eval_dataset = eval_dataset
        if eval_dataset is not None or self._evaluates():
            self.eval_dataset = self.build_dataset(eval_dataset, "val", self.eval_preprocessor)
        self._check_lengths()

    def _settle_epochs(self) -> None:
        """As many whole epochs as ``train.num_steps`` iterations need, where nothing else says how many."""
        steps = self.cfg.safe_get("train.num_steps")
        if not steps or self.max_epochs or self.train_dataset is None:
            return
        per_epoch = self.plan.train_iters_per_epoch or count_batches(
            self.get_train_dataloader(), "train_iters_per_epoch"
        )
        self.cfg.train.max_epochs = -(-steps // per_epoch)
        self.plan = make_plan(self.cfg, self._keywords)

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

    # The run

    def train(self, checkpoint_path: str | None = None, load_all_state: bool = True, strict: bool = False) -> None:
        """Train to the end of the last epoch, or until a hook asks to stop.

        Args:
            checkpoint_path: Where to start from: a ``.pth`` of a pair, its prefix, or weights (``.bin``, safetensors).
            load_all_state: Go on with the run that wrote the pair, with the same losses, rates and weights as if it had
                never stopped; False takes its weights only.
            strict: Refuse weights that lack, or add, parameters.

        Raises:
            FileNotFoundError: No such checkpoint.
            ValueError: A checkpoint that cannot be loaded.
        """
        with self.training(checkpoint_path, load_all_state, strict) as trainer:
            engine.fit(self, trainer)

    @contextlib.contextmanager
    def training(
        self,
        checkpoint_path: str | None = None,
        load_all_state: bool = True,
        strict: bool = False,
        trainer: L.Trainer | None = None,
    ) -> Iterator[L.Trainer]:
        """What surrounds Lightning's training loop, for whoever runs it; yields the Lightning trainer to run.

        Args:
            checkpoint_path: Where to start from.
            load_all_state: Go on with the run that wrote the pair; False takes its weights only.
            strict: Refuse weights that lack, or add, parameters.
            trainer: One that is about to train; None makes one.

        Raises:
            FileNotFoundError: No such checkpoint.
            ValueError: A checkpoint that cannot be loaded.
        """
        self.mode = "train"
        self._stop_training = False
        self.go_to(self._epoch, self._epoch_start, 0)  # an epoch that an exception ended begins anew
        if checkpoint_path is not None:
            self._load_when_training_begins(checkpoint_path, load_all_state, strict)
        with shared_failures(self.processes):
            self.plan = make_plan(self.cfg, self._keywords)
            with located(self.prepared):
                self._engine = trainer or engine.build_trainer(self)
                self._make_ready()
            self.print_cfg()
            device = self._engine.strategy.root_device
            try:
                with Interrupts(self) as interrupts:
                    self._end_if_asked, self._take_signals = interrupts.end_if_asked, interrupts.install
                    yield self._engine
            finally:
                self._engine = None
                if not self.strategy.replaces_parameters:
                    self.model.to(device)  # Lightning leaves it on the CPU

    def _make_ready(self) -> None:
        """Make what training needs: the hooks that step, the optimizer, the loaders; and see that a checkpoint fits."""
        self._register_stepping_hooks()
        if not self.strategy.replaces_parameters:
            self.register_optimizers_hook()
        self.register_processors()
        if self._evaluates():
            self.make_eval_dataloader()
        for hook in self.hooks:
            if isinstance(hook, LoadCheckpointHook):
                hook.check(self)

    def evaluate(
        self,
        checkpoint_path: str | None = None,
        saving_fn: Callable[..., Any] | None = None,
        strict: bool = False,
    ) -> dict[str, Any]:
        """Evaluate, on its own or in the middle of training; returns name to value.

        Args:
            checkpoint_path: Weights to load first.
            saving_fn: Called as ``saving_fn(inputs, outputs)`` for each batch.
            strict: Refuse weights that lack, or add, parameters.

        Raises:
            FileNotFoundError: No such checkpoint.
            ValueError: A checkpoint that cannot be loaded.
        """
        if checkpoint_path is not None:
            self.load_checkpoint(checkpoint_path, strict)
        with self.evaluating(saving_fn):
            engine.validate(self, self._engine or engine.build_trainer(self))
        return self.metric_values or {}

    @contextlib.contextmanager
    def evaluating(self, saving_fn: Callable[..., Any] | None = None) -> Iterator[None]:
        """What surrounds Lightning's validation loop, for whoever runs it; ``metric_values`` are there at its end.

        Args:
            saving_fn: Called as ``saving_fn(inputs, outputs)`` for each batch.
        """
        metrics = build_metrics(self.plan.metrics)
        for metric in metrics:
            metric.trainer = self
            keep_apart(metric)
        self._visualization = self.cfg.safe_get("evaluation.visualization")
        self.visualization_buffer.clear_output()
        with shared_failures(self.processes):
            try:
                with self._batches_go_to(metrics, saving_fn):
                    yield
            finally:
                self._visualization = None
            self.metric_values = self._values_of(metrics)

    def predict(
        self,
        predict_datasets: Any,
        saving_fn: Callable[..., Any],
        checkpoint_path: str | None = None,
        strict: bool = False,
    ) -> None:
        """Run data through the model in evaluation mode, and hand over what comes out.

        Args:
            predict_datasets: A data set, or a list of them; the evaluation preprocessor is applied.
            saving_fn: Called as ``saving_fn(inputs, outputs)`` for each batch, in the order of the data.
            checkpoint_path: Weights to load first.
            strict: Refuse weights that lack, or add, parameters.

        Raises:
            FileNotFoundError: No such checkpoint.
            ValueError: A checkpoint that cannot be loaded.
        """
        if checkpoint_path is not None:
            self.load_checkpoint(checkpoint_path, strict)
        with self.predicting(predict_datasets, saving_fn):
            engine.validate(self, self._engine or engine.build_trainer(self))

    @contextlib.contextmanager
    def predicting(self, predict_datasets: Any, saving_fn: Callable[..., Any] | None = None) -> Iterator[None]:
        """What surrounds Lightning's loop over data to predict, for whoever runs it.

        Args:
            predict_datasets: As for ``predict``.
            saving_fn: As for ``predict``.
        """
        evaluation_loader, self.eval_dataloader = self.eval_dataloader, self.get_predict_dataloader(predict_datasets)
        try:
            with shared_failures(self.processes), self.to_the_end(), self._batches_go_to([], saving_fn):
                yield
        finally:
            self.eval_dataloader = evaluation_loader

    @contextlib.contextmanager
    def to_the_end(self) -> Iterator[None]:
        """Within it, an evaluation uses its data to their end: they are not those that limits are meant for."""
        self.all_data = True
        try:
            yield
        finally:
            self.all_data = False

    @contextlib.contextmanager
    def _batches_go_to(self, metrics: list[Metric], saving_fn: Callable[..., Any] | None) -> Iterator[None]:
        """What surrounds Lightning's loop in such a pass, for whoever runs it."""
        with located(self.prepared):
            self.make_eval_dataloader()
        self.print_cfg()
        self.mode = "eval"
        if self._engine is None:
            self.register_processors()
        self._metrics, self._saving_fn = metrics, saving_fn
        try:
            self.strategy.before_evaluation(self)
            yield
        finally:
            self._metrics, self._saving_fn = [], None

    def _values_of(self, metrics: list[Metric]) -> dict[str, Any]:
        """What the metrics of all processes come to; the main one merges and evaluates them."""
        parts = dict(reversed(self.processes.gather_to_main((self.processes.share, metrics))))
        for share in sorted(parts.keys() - {self.processes.share}):
            for own, other in zip(metrics, parts[share], strict=True):
                own.merge(other)
        values = metrics if self.is_main_process else []
        return self.processes.broadcast({name: plain(value) for m in values for name, value in m.evaluate().items()})

    def _load_when_training_begins(self, path: str, load_all_state: bool, strict: bool) -> None:
        """Point the LoadCheckpointHook, made for the purpose if there is none, at a checkpoint."""
        files.pair(path)  # a missing one is reported before anything starts
        hooks = self.get_hook(LoadCheckpointHook)
        if not hooks:
            hooks = [LoadCheckpointHook()]
            self.register_hook(hooks[0])
        hook = hooks[0]
        hook.checkpoint_file, hook.load_all_state, hook.strict = path, load_all_state, strict

    def begin_run(self) -> None:
        """Stage before_run; a resumed run is then put where it stopped."""
        self._take_signals()
        self.invoke_hook("before_run")
        self.model.train()
        if self.resumed_from is not None:
            meta, self.resumed_from = self.resumed_from, None
            restore_moment(self, meta)

    # Hooks

    def register_optimizers_hook(self) -> None:
        """Make the loader, the optimizer and the scheduler, and add the hooks that step them; once."""
        self._register_stepping_hooks()
        if self.optimizer is None:
            optimizer, scheduler = self.create_optimizer_and_scheduler()
            if isinstance(optimizer, Mapping) and any(hook.type == "OptimizerHook" for hook in self.plan.hooks):
                found = f"there are several optimizers ({', '.join(optimizer)}), which OptimizerHook cannot tell apart"
                fix = 'set it to {"type": "NoneOptimizerHook"} and step them in train_step or in a hook of your own'
                raise ConfigError(Problem("train.optimizer_hook", found, fix=fix))
            self.optimizer, self.lr_scheduler = optimizer, scheduler

    def _register_stepping_hooks(self) -> None:
        """Make the loader, and add the hooks that step optimizer and scheduler; once."""
        if self.train_dataloader is not None:
            return
        self.train_dataloader = self.get_train_dataloader()
        self.stream = TrainingStream(self.train_dataloader, self.plan.train_iters_per_epoch)
        for planned in self.plan.hooks:
            if planned.steps:
                self.register_hook(build_hook(planned.type, self._stepping_arguments(planned), planned.key))

    def _stepping_arguments(self, planned: HookPlan) -> dict[str, Any]:
        """Arguments of a hook that steps; the config's ``options`` belong to the config's own component only."""
        given = {"OptimizerHook": self.optimizers[0], "LrSchedulerHook": self.optimizers[1]}.get(planned.type)
        if planned.key or given is None or not planned.args:
            return planned.args
        self.logger.warning(
            "%s: the options of the config (%s) are not used, since the object was passed in code",
            planned.type,
            ", ".join(planned.args),
        )
        return {}

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

    # Checkpoints

    def save_checkpoint(self, prefix: Path) -> None:
        """Save a pair to go on from: what stands in the file names before ``.pth`` and ``_trainer_state.pth``."""
        with self.averaged_weights():
            save_weights(self, prefix, self.plan.saves_trainable_only)
        save_trainer_state(self, prefix)

    def resume_point(self, resume: str, weights_only: bool = False) -> str:
        """The checkpoint that ``--resume`` asks for: the newest pair for ``last``, else the one it names.

        Raises:
            ConfigError: It is no pair, and not only its weights are wanted.
            FileNotFoundError: There is none.
            ValueError: It is damaged.
        """
        if resume == "last":
            return str(files.newest_pair(Path(self.checkpoint_folder)))
        weights, state = files.pair(resume)
        files.load(weights, mmap=True)
        if state is not None and not weights_only:
            files.load(state, "trainer state", mmap=True)
        if not weights_only and state is None:
            found = f"'{resume}' has no trainer state beside it, so there is no run to go on with"
            fix = "name a pair, X.pth with X_trainer_state.pth; or add --weights-only"
            raise ConfigError(Problem("--resume", found, fix=fix))
        return resume

    def print_cfg(self) -> None:
        """Log the config as it is used, what was moved in it, what is doubtful about it, and the hooks; once.

        That is when training or evaluation begins: nothing is written for a run that is refused.
        """
        if self._printed:
            return
        self._printed = True
        for note in self._notes:
            self.logger.info("config: %s", note)
        for warning in self._warnings:
            self.logger.warning(warning)
        self.logger.info("Training Config\n%s", without_tokens(self.cfg).pretty_text.rstrip())
        self.logger.info(self.get_hook_info())


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


def _unknown_keywords(kwargs: Mapping[str, Any]) -> list[str]:
    """A sentence for each constructor keyword that nobody reads."""
    known = (*inspect.signature(EpochBasedTrainer).parameters, *PLAN_KEYWORDS, *OTHER_KEYWORDS)
    return [
        f"keyword '{name}' is not known to the trainer and has no effect"
        + (f"; did you mean '{nearest(name, known)}'?" if nearest(name, known) else "")
        for name in kwargs
        if name not in known
    ]
