"""TrainerRuns: training, evaluation and prediction, over Lightning's loops."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import lightning as L

from adapter.checkpoint import files
from adapter.checkpoint.hub import without_tokens
from adapter.checkpoint.resume import found_before, restore_moment
from adapter.checkpoint.state import save_trainer_state, save_weights
from adapter.data.loader import count_batches
from adapter.data.stream import TrainingStream
from adapter.errors import ConfigError, Problem
from adapter.failures import shared_failures
from adapter.hooks.build import build_hook
from adapter.hooks.load_checkpoint import LoadCheckpointHook
from adapter.lightning import engine, search
from adapter.lightning.interrupts import Interrupts
from adapter.metrics.build import build_metrics, keep_apart
from adapter.metrics.metric import Metric, plain
from adapter.plan import make_plan
from adapter.prepare import Prepared, located
from adapter.schema.hook_list import HookPlan
from adapter.schema.search import put_found
from adapter.trainer_steps import TrainerSteps


class TrainerRuns(TrainerSteps):
    """What is done with the parts of a run once they are there.

    Attributes:
        prepared: The config on its documented keys, with what was moved.
        all_data: Whether an evaluation is to use its data to their end.
        stream: The training data as the run takes them.
        metric_values: What the last evaluation came to; None before one.
        lr_scheduler: The scheduler, once training has begun.
        found: What a search before training found, by key of the config.
        resumed_from: ``meta`` of the trainer state that the run goes on from, until it does.
    """

    prepared: Prepared
    all_data: bool
    stream: TrainingStream
    metric_values: dict[str, Any] | None
    lr_scheduler: Any
    found: dict[str, Any]
    resumed_from: Mapping[str, Any] | None
    _keywords: dict[str, Any]
    _notes: list[str]
    _warnings: list[str]
    _printed: bool

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
                self._settle_search()
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

    def _settle_search(self) -> None:
        """Put the values that the config leaves to a search into it; a run that goes on has those it began with."""
        if self.plan.lr_find is None and self.plan.scale_batch_size is None:
            return
        loading = [hook for hook in self.hooks if isinstance(hook, LoadCheckpointHook) and hook.checkpoint_file]
        for hook in loading:
            hook.check(self)
        before = next((hook.checkpoint_file for hook in loading if hook.goes_on), None)
        begins = [str(hook.checkpoint_file) for hook in loading]
        self.found = search.search(self, begins) if before is None else found_before(before)
        put_found(self.cfg, self.found)
        if before is not None and not self.found:
            self.logger.info("nothing is searched for: %s is of a run that has its rate and batch size", before)
        for key, value in self.found.items():
            self.logger.info("%s: %s, as Lightning's Tuner found%s", key, value, "" if before is None else " before")
        self.plan = make_plan(self.cfg, self._keywords)
        self.settle_epochs()

    def settle_epochs(self) -> None:
        """As many whole epochs as ``train.num_steps`` iterations need, where nothing else says how many."""
        steps = self.cfg.safe_get("train.num_steps")
        if not steps or self.max_epochs or self.train_dataset is None or self.plan.scale_batch_size is not None:
            return
        per_epoch = self.plan.train_iters_per_epoch or count_batches(
            self.get_train_dataloader(), "train_iters_per_epoch"
        )
        self.cfg.train.max_epochs = -(-steps // per_epoch)
        self.plan = make_plan(self.cfg, self._keywords)

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
