"""LoadCheckpointHook: start from a checkpoint, or go on with the run that wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from adapter.errors import ConfigError, MissingCheckpointError, Problem
from adapter.hooks.hook import Hook
from adapter.hooks.priority import Priority
from adapter.registry import HOOKS

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer

GIVEN_IN_CODE = "checkpoint_path"  # the argument of train(), and what stands for a hook made in code


@HOOKS.register_module()
class LoadCheckpointHook(Hook):
    """Loads a checkpoint when training begins; made by ``train(checkpoint_path)``.

    Args:
        checkpoint_file: Either file of a pair, its prefix, or weights (``.bin``, safetensors).
        load_all_state: Go on with the run that wrote the pair; False takes its weights only.
        strict: Refuse weights that lack, or add, parameters.
    """

    PRIORITY = Priority.HIGH

    def __init__(self, checkpoint_file: str | None = None, load_all_state: bool = True, strict: bool = False) -> None:
        self.checkpoint_file = checkpoint_file
        self.load_all_state = load_all_state
        self.strict = strict

    @property
    def goes_on(self) -> bool:
        """Whether there is a run to go on with, and not only weights to begin with."""
        from adapter.checkpoint import files

        return (
            self.load_all_state and self.checkpoint_file is not None and files.pair(self.checkpoint_file)[1] is not None
        )

    def check(self, trainer: EpochBasedTrainer) -> None:
        """Refuse a checkpoint that is missing or does not fit, before the run begins and anything is written.

        Raises:
            ConfigError: It is; a MissingCheckpointError when there is none.
        """
        if self.checkpoint_file is None:
            return
        from adapter.checkpoint.fit import check_fit

        given = (hook.key for hook in trainer.plan.hooks if hook.args.get("checkpoint_file") == self.checkpoint_file)
        key = next((f"{key}.checkpoint_file" for key in given), GIVEN_IN_CODE)
        try:
            check_fit(trainer, self.checkpoint_file, self.load_all_state)
        except FileNotFoundError as error:
            raise MissingCheckpointError(Problem(key, str(error), kind="missing")) from error
        except ValueError as error:
            raise ConfigError(Problem(key, str(error))) from error

    def before_run(self, trainer: EpochBasedTrainer) -> None:
        """Load the weights and, where there is one and it is wanted, the trainer state.

        Raises:
            FileNotFoundError: No such checkpoint.
            ValueError: A checkpoint that cannot be loaded, or does not fit.
        """
        if self.checkpoint_file is None:
            return
        from adapter.checkpoint import files
        from adapter.checkpoint.resume import restore

        weights, state_file = files.pair(self.checkpoint_file)
        self.checkpoint_file = None  # a second train() goes on where the first ended
        trainer.load_weights(files.load(weights), self.strict)
        if not self.load_all_state or state_file is None:
            trainer.logger.info("Training starts with the weights of %s", weights)
            return
        state: Mapping[str, Any] = files.load(state_file, "trainer state")
        restore(trainer, state, state_file)
        trainer.resumed_from = state["meta"]
        trainer.resumed_pair = weights.with_suffix("")
        trainer.logger.info(
            "Training goes on from %s: epoch %d, iteration %d", weights, trainer.epoch + 1, trainer.iter
        )
        if trainer.iter >= trainer.max_iters:
            told = "The run of %s has had its %d epochs: nothing is left to train; a larger max_epochs extends it"
            trainer.logger.warning(told, weights, trainer.max_epochs)
