"""BaseTrainer: what every trainer has, whatever its loop: a config, hooks, log buffers, and where the run is."""

from __future__ import annotations

import logging
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from adapter.config import Config
from adapter.errors import ConfigError, Problem
from adapter.hooks.build import build_hook, hook_table
from adapter.hooks.hook import Hook
from adapter.hooks.hook_list import HookList
from adapter.hooks.logger import LoggerHook
from adapter.log_buffer import LogBuffer
from adapter.prepare import load
from adapter.processes import Processes
from adapter.run_log import console_logger

SomeHook = TypeVar("SomeHook", bound=Hook)


class BaseTrainer(ABC):
    """Holds the state of a run; ``train`` and ``evaluate`` are for the subclass to define.

    Args:
        cfg_file: Config file, or a config that has been read already.
        arg_parse_fn: Gets the config, as the file says, in words (``["--train.max-epochs", "3"]``) and returns
            ``args``; None leaves ``args`` None.
        trust_remote_code: Allow a ``.py`` config file, which runs code.

    Attributes:
        cfg: The config.
        args: What ``arg_parse_fn`` returned.
        epoch_ends: Whether the hooks of an epoch's end are running.
        hooks: The hooks in run order.
        mode: ``train`` or ``eval``; after an evaluation it stays ``eval`` until the next iteration or epoch.
        log_buffer: Values of the next log line.
        visualization_buffer: Images of the next log line.
        processes: The processes of the run.
        timestamp: Start of the run as ``YYYYMMDD_HHMMSS``, local time; names the log files.
    """

    def __init__(
        self,
        cfg_file: str | os.PathLike[str] | Mapping[str, Any],
        arg_parse_fn: Callable[[list[str]], Any] | None = None,
        trust_remote_code: bool = False,
    ) -> None:
        self.logger: logging.Logger = console_logger()
        self.cfg: Config = load(cfg_file, trust_remote_code=trust_remote_code)
        self.args = self.cfg.to_args(arg_parse_fn) if arg_parse_fn else None
        self.hooks = HookList()
        self.log_buffer = LogBuffer()
        self.visualization_buffer = LogBuffer()
        self.timestamp = time.strftime("%Y%m%d_%H%M%S")
        self.mode = "train"
        self._epoch = self._iter = self._inner_iter = self._epoch_start = 0
        self.epoch_ends = self._stop_training = False
        self._deferred: list[Callable[[], object]] = []
        self.processes = Processes(int(os.environ.get("RANK", os.environ.get("LOCAL_RANK", "0"))))
        self.parallel_groups: dict[str, Any] = {}
        self._end_if_asked: Callable[[], None] = lambda: None
        self._take_signals: Callable[[], None] = lambda: None

    @abstractmethod
    def train(self, *args: Any, **kwargs: Any) -> None:
        """Train the model."""

    @abstractmethod
    def evaluate(self, checkpoint_path: str | None = None, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Evaluate the model, with a checkpoint's weights when one is given; returns name to value."""

    @property
    def epoch(self) -> int:
        """Epochs done."""
        return self._epoch

    @property
    def iter(self) -> int:
        """Iterations done in the run."""
        return self._iter

    @property
    def inner_iter(self) -> int:
        """Number of the current iteration within its epoch, from 0."""
        return self._inner_iter

    @property
    def dp_group(self) -> Any:
        """Process group of data parallelism; KeyError without one."""
        return self.parallel_groups["data_parallel"]

    @property
    def tp_group(self) -> Any:
        """Process group of tensor parallelism; KeyError without one."""
        return self.parallel_groups["tensor_model_parallel"]

    @property
    def pp_group(self) -> Any:
        """Process group of pipeline parallelism; KeyError without one."""
        return self.parallel_groups["pipeline_model_parallel"]

    @property
    def in_loop(self) -> bool:
        """Whether a loop of the trainer's own is running, which counts epochs and iterations."""
        return True

    @property
    def _hooks(self) -> list[Hook]:
        """The hooks in run order; setting it replaces them."""
        return list(self.hooks)

    @_hooks.setter
    def _hooks(self, hooks: Sequence[Hook]) -> None:
        self.hooks = HookList()
        for hook in hooks:
            self.register_hook(hook)

    @property
    def _dist(self) -> bool:
        """Whether several processes share the data."""
        return "data_parallel" in self.parallel_groups

    @property
    def stop_requested(self) -> bool:
        """Whether a hook has asked to end the run after this epoch."""
        return self._stop_training

    @property
    def is_main_process(self) -> bool:
        """Whether this process writes files and prints."""
        return self.processes.rank == 0

    @property
    def next_place(self) -> tuple[int, int, int]:
        """Epoch, iteration and iteration within its epoch that come next, once the hooks of this stage have run."""
        if self.epoch_ends:
            return self.epoch + 1, self.iter, 0
        return self.epoch, self.iter + 1, self.inner_iter + 1

    def go_to(self, epoch: int, iteration: int, inner_iter: int) -> None:
        """Set the counters: epochs and iterations done, and iterations done of the epoch."""
        self._epoch, self._iter, self._inner_iter = epoch, iteration, inner_iter
        self._epoch_start = iteration - inner_iter

    def at_stage_end(self, action: Callable[[], object]) -> None:
        """Do something once the hooks of the present stage (after_train_iter or after_train_epoch) have run."""
        self._deferred.append(action)

    def begin_epoch(self) -> None:
        """Stage before_train_epoch; an epoch that a resumed run enters in its middle has had it."""
        self.mode = "train"
        self._deferred = []
        if self._inner_iter == 0:
            self.invoke_hook("before_train_epoch")
        if not any(isinstance(hook, LoggerHook) for hook in self.hooks):
            self.log_buffer.clear()  # a logger does so when an epoch begins; without one it would only grow

    def begin_iter(self) -> None:
        """Stage before_train_iter."""
        self.mode = "train"
        self._inner_iter = self._iter - self._epoch_start
        self.invoke_hook("before_train_iter")

    def end_iter(self) -> None:
        """Count an iteration; its hooks have run."""
        self._do_deferred()
        self._end_if_asked()
        self._iter += 1

    def end_epoch(self) -> None:
        """Stage after_train_epoch; then the epoch is counted."""
        self.epoch_ends = True
        try:
            self.invoke_hook("after_train_epoch")
            self._stop_training = self.processes.any(self._stop_training)
            self._do_deferred()
            self._end_if_asked()
        finally:
            self.epoch_ends, self._deferred = False, []
        self.go_to(self._epoch + 1, self._iter, 0)

    def _do_deferred(self) -> None:
        if self._deferred:
            actions, self._deferred = self._deferred, []
            for action in actions:
                action()

    def register_hook(self, hook: Hook) -> None:
        """Add a hook at its priority."""
        self.hooks.add(hook)

    def register_hook_from_cfg(self, hook_cfg: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> list[Hook]:
        """Build and add hooks from ``{type, **arguments}``, one or a list; returns them.

        Raises:
            ConfigError: No type or an unknown one, or arguments that the hook refuses.
        """
        given = [hook_cfg] if isinstance(hook_cfg, Mapping) else list(hook_cfg)
        untyped = [cfg for cfg in given if not cfg.get("type")]
        if untyped:
            found = f"a hook without a type: {dict(untyped[0])}"
            raise ConfigError(Problem("type", found, fix="`adapter list hook` shows every name", kind="missing"))
        hooks = [build_hook(cfg["type"], {k: v for k, v in cfg.items() if k != "type"}) for cfg in given]
        for hook in hooks:
            self.register_hook(hook)
        return hooks

    def register_processors(self) -> None:
        """Hand the trainer to the hooks that have a method ``register_processor(trainer)``."""
        for hook in self.hooks:
            register = getattr(hook, "register_processor", None)
            if register is not None:
                register(self)

    def get_hook(self, cls: type[SomeHook]) -> list[SomeHook]:
        """Registered hooks of exactly the class ``cls``, in run order."""
        return [hook for hook in self.hooks if type(hook) is cls]

    def invoke_hook(self, fn_name: str) -> None:
        """Run the hooks of a stage; a loop of the user's own, which counts ``_epoch`` and ``_iter``, may call it."""
        if self.in_loop:
            self.hooks.run(fn_name, self)
            return
        outer = self.epoch_ends  # an evaluation among the hooks of an epoch's end runs stages of its own
        self.epoch_ends = outer or fn_name == "after_train_epoch"
        try:
            self.hooks.run(fn_name, self)
            if fn_name in ("after_train_iter", "after_train_epoch"):
                self._do_deferred()
        finally:
            self.epoch_ends = outer

    def get_hook_info(self) -> str:
        """The hooks that act in each stage, with their priorities, as a text for people."""
        return hook_table(self.hooks)
