"""TrainerSteps: what a run does, one stage at a time, and how long it is."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import lightning as L
import torch
from torch import nn

from adapter.checkpoint import files
from adapter.data.loader import count_batches, set_epoch
from adapter.hooks.checkpoint import CheckpointHook
from adapter.hooks.ema import EMAHook
from adapter.lightning.module import TrainingModule
from adapter.lightning.strategies.strategy import RunStrategy
from adapter.metrics.metric import Metric
from adapter.models.forward import call_model, losses_of
from adapter.trainer_parts import TrainerParts


class TrainerSteps(TrainerParts):
    """The stages that Lightning's loop calls through the module and the hook callback, and the run's measures.

    Attributes:
        optimizer: The optimizer, or several by name; None before training.
        train_dataloader: Training loader; None before training.
        train_outputs: What the model returned in this iteration.
        strategy: What the processes of the run share, and how.
        trainer_args: The user's arguments for ``lightning.Trainer``.
    """

    work_dir: str
    optimizer: Any
    train_dataloader: Any
    data_loader: Any
    train_outputs: Any
    module: TrainingModule
    _engine: L.Trainer | None
    strategy: RunStrategy
    trainer_args: dict[str, Any]
    _metrics: list[Metric]
    _saving_fn: Callable[..., Any] | None
    _visualization: Mapping[str, Any] | None

    def begin_epoch(self) -> None:
        """Stage before_train_epoch; the data are told which epoch begins."""
        self.data_loader = self.train_dataloader
        set_epoch(self.train_dataloader, self._epoch, self._seed)
        super().begin_epoch()

    def train_step(self, model: nn.Module, inputs: Any) -> None:
        """One forward pass; sets ``train_outputs`` and logs the losses. Override it for steps of another kind.

        Raises:
            TypeError: The model returned neither a mapping nor an object with ``to_dict``.
        """
        model.train()  # in every step, as under ModelScope: what a hook put into evaluation mode does not stay there
        self.train_outputs = call_model(model, inputs)
        self.log_buffer.update(losses_of(self.train_outputs), shared=True)

    def evaluation_step(self, data: Any) -> Any:
        """One forward pass in evaluation mode, without gradients; returns the outputs. Override it as needed."""
        task = self.known_task
        if task is not None and task.step is not None:
            writes = not self._metrics or any(metric.READS_TEXT for metric in self._metrics)
            return task.step(self.model, data, self.eval_preprocessor, writes or self._saving_fn is not None)
        return call_model(self.model, data)

    def evaluate_batch(self, batch: Any) -> Any:
        """One evaluation iteration: stage before_val_iter, the step, the metrics, stage after_val_iter.

        Returns:
            What the step returned.
        """
        self.hooks.run("before_val_iter", self)
        outputs = self.evaluation_step(batch)
        for metric in self._metrics:
            metric.add(outputs, batch)
        if self._saving_fn is not None:
            self._saving_fn(batch, outputs)
        if self._visualization is not None:
            self.visualization(outputs, self.eval_dataset, **self._visualization)
        self.hooks.run("after_val_iter", self)
        return outputs

    def backward(self, loss: torch.Tensor, synchronize: bool = True, retain_graph: bool = False) -> None:
        """Propagate a loss backward, as the strategy and the precision want it."""
        self.module.propagate(loss, synchronize, retain_graph)

    def optimizer_step(
        self, grad_clip: Mapping[str, Any] | None = None, optimizer: torch.optim.Optimizer | None = None
    ) -> None:
        """Clip the gradients, step the optimizer, zero its gradients.

        Args:
            grad_clip: Arguments of ``clip_grad_norm_``; None for none.
            optimizer: One of several; the only one by default.
        """
        self.module.update(self.optimizer if optimizer is None else optimizer, grad_clip or {})

    def load_checkpoint(self, path: str, strict: bool = False) -> None:
        """Load the weights of a checkpoint: either file of a pair, its prefix, ``.bin`` or safetensors.

        Raises:
            FileNotFoundError: No such checkpoint.
            ValueError: It cannot be loaded, or does not fit the model.
        """
        self.load_weights(files.load(files.pair(path)[0]), strict)

    def load_weights(self, weights: Mapping[str, Any], strict: bool = False) -> None:
        """Put weights into the model, and report names that do not match.

        Raises:
            ValueError: A shape that does not fit, or with ``strict`` a name.
        """
        for mismatch in self.strategy.load_weights(self.unwrap_module(self.model), weights, strict):
            self.logger.warning(mismatch)

    @property
    def max_epochs(self) -> int:
        """Epochs of the run."""
        given = None if self.plan.fast_dev_run else self.trainer_args.get("max_epochs")
        return given or self.plan.max_epochs or 0

    @property
    def _max_epochs(self) -> int:
        """The same, as loops of the user's own name it."""
        return self.max_epochs

    @property
    def in_loop(self) -> bool:
        """Whether training, or an evaluation, is running."""
        return self._engine is not None

    @property
    def max_iters(self) -> int:
        """Iterations of the run.

        Raises:
            ValueError: The data have no length and ``train_iters_per_epoch`` is not given.
        """
        return self.max_epochs * self.iters_per_epoch

    @property
    def iters_per_epoch(self) -> int:
        """Iterations of an epoch.

        Raises:
            ValueError: The data have no length and ``train_iters_per_epoch`` is not given.
        """
        return self.plan.train_iters_per_epoch or count_batches(self.train_dataloader, "train_iters_per_epoch")

    @property
    def eval_iters(self) -> int:
        """Iterations of an evaluation.

        Raises:
            ValueError: The data have no length and ``val_iters_per_epoch`` is not given.
        """
        return self.plan.val_iters_per_epoch or count_batches(self.eval_dataloader, "val_iters_per_epoch")

    @contextlib.contextmanager
    def averaged_weights(self) -> Iterator[None]:
        """Within it, the model has the weights that EMAHook averages; without the hook, its own."""
        with contextlib.ExitStack() as stack:
            for hook in self.hooks:
                if isinstance(hook, EMAHook):
                    stack.enter_context(hook.averaged())
            yield

    @property
    def checkpoint_folder(self) -> str:
        """Where CheckpointHook saves; the work directory without one."""
        folders = [hook.save_dir for hook in self.get_hook(CheckpointHook)]
        return next(filter(None, folders), self.work_dir)

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics that an evaluation computes."""
        return self.get_metrics()

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        return next((parameter.device for parameter in self.model.parameters()), torch.device("cpu"))
