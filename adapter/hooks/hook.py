"""Hook: the base class of everything that takes part in training, and the stages it can take part in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapter.hooks.priority import Priority

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer

# Stage -> the shared default that the base class forwards it to. Validation stages forward to nothing: a hook that
# overrides before_iter keeps seeing training only, as under the trainer this contract comes from.
STAGES: dict[str, str | None] = {
    "after_init": None,
    "before_run": None,
    "before_train_epoch": "before_epoch",
    "before_train_iter": "before_iter",
    "after_train_iter": "after_iter",
    "after_train_epoch": "after_epoch",
    "before_val": None,
    "before_val_epoch": None,
    "before_val_iter": None,
    "after_val_iter": None,
    "after_val_epoch": None,
    "after_val": None,
    "after_run": None,
}


class Hook:
    """Code that runs at chosen stages of training: override the methods of the stages you want.

    ``trainer.epoch``, ``trainer.iter`` and ``trainer.inner_iter`` count from 0 and advance after the last hook of
    ``after_train_epoch`` and ``after_train_iter``.

    Attributes:
        PRIORITY: Place within a stage; the lower number runs first, equal numbers in order of registration.
        STRATEGY: Name of the strategy that the hook asks the processes to share the work by; empty for most.
        RANK: Place among built-in hooks of equal priority; leave it at 0 in hooks of your own.
        stages: Names of the stages, in the order they come in a run.
    """

    PRIORITY: Priority | int | str = Priority.NORMAL
    RANK: int = 0
    STRATEGY: str = ""
    stages: tuple[str, ...] = tuple(STAGES)

    def after_init(self, trainer: EpochBasedTrainer) -> None:
        """Runs once, at the end of the trainer's constructor."""

    def before_run(self, trainer: EpochBasedTrainer) -> None:
        """Runs once, when training starts: the optimizer and the data loaders exist."""

    def after_run(self, trainer: EpochBasedTrainer) -> None:
        """Runs once, when training has ended."""

    def before_epoch(self, trainer: EpochBasedTrainer) -> None:
        """Shared default of ``before_train_epoch``."""

    def after_epoch(self, trainer: EpochBasedTrainer) -> None:
        """Shared default of ``after_train_epoch``."""

    def before_iter(self, trainer: EpochBasedTrainer) -> None:
        """Shared default of ``before_train_iter``."""

    def after_iter(self, trainer: EpochBasedTrainer) -> None:
        """Shared default of ``after_train_iter``."""

    def before_train_epoch(self, trainer: EpochBasedTrainer) -> None:
        """Runs before each training epoch."""
        self.before_epoch(trainer)

    def after_train_epoch(self, trainer: EpochBasedTrainer) -> None:
        """Runs after each training epoch; ``trainer.epoch`` still names the epoch that ended."""
        self.after_epoch(trainer)

    def before_train_iter(self, trainer: EpochBasedTrainer) -> None:
        """Runs before each training step; ``trainer.data_batch`` is on the device."""
        self.before_iter(trainer)

    def after_train_iter(self, trainer: EpochBasedTrainer) -> None:
        """Runs after each training step.

        Before priority ABOVE_NORMAL the loss in ``trainer.train_outputs`` may still be changed; after it the weights
        have been updated.
        """
        self.after_iter(trainer)

    def before_val(self, trainer: EpochBasedTrainer) -> None:
        """Runs before an evaluation."""

    def before_val_epoch(self, trainer: EpochBasedTrainer) -> None:
        """Runs before the pass over the evaluation data."""

    def before_val_iter(self, trainer: EpochBasedTrainer) -> None:
        """Runs before each evaluation step."""

    def after_val_iter(self, trainer: EpochBasedTrainer) -> None:
        """Runs after each evaluation step."""

    def after_val_epoch(self, trainer: EpochBasedTrainer) -> None:
        """Runs after the pass over the evaluation data, before the metrics are computed."""

    def after_val(self, trainer: EpochBasedTrainer) -> None:
        """Runs after an evaluation."""

    def key_of(self, trainer: Any, argument: str) -> str:
        """Where the config says an argument of this hook, for errors; ``<class>.<argument>`` of one made in code."""
        name, value = type(self).__name__, getattr(self, argument)
        planned = (hook for hook in trainer.plan.hooks if hook.type == name and hook.args.get(argument) == value)
        return f"{next((hook.key for hook in planned if hook.key), name)}.{argument}"

    def state_dict(self) -> dict[str, Any]:
        """What has to survive a resume; empty for a hook without state."""
        return {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take back what ``state_dict`` returned."""

    @classmethod
    def get_triggered_stages(cls) -> list[str]:
        """Stages in which this hook does something, in the order they come in a run."""
        return [stage for stage in STAGES if cls.overrides(stage)]

    @classmethod
    def overrides(cls, stage: str) -> bool:
        """Whether the class does something in ``stage``, by its own method or by the shared default's."""
        methods = (stage, STAGES[stage])
        return any(name and getattr(cls, name) is not getattr(Hook, name) for name in methods)

    @staticmethod
    def every_n_epochs(trainer: EpochBasedTrainer, n: int) -> bool:
        """Whether the current epoch, counted from 1, is a multiple of ``n``; False when ``n`` is not positive."""
        return n > 0 and (trainer.epoch + 1) % n == 0

    @staticmethod
    def every_n_iters(trainer: EpochBasedTrainer, n: int) -> bool:
        """Whether the current iteration of the run, counted from 1, is a multiple of ``n``."""
        return n > 0 and (trainer.iter + 1) % n == 0

    @staticmethod
    def every_n_inner_iters(trainer: EpochBasedTrainer, n: int) -> bool:
        """Whether the current iteration of the epoch, counted from 1, is a multiple of ``n``."""
        return n > 0 and (trainer.inner_iter + 1) % n == 0

    @staticmethod
    def end_of_epoch(trainer: EpochBasedTrainer) -> bool:
        """Whether this is the last iteration of the epoch."""
        return trainer.inner_iter + 1 == trainer.iters_per_epoch

    @staticmethod
    def is_last_epoch(trainer: EpochBasedTrainer) -> bool:
        """Whether this is the last epoch of the run."""
        return trainer.epoch + 1 == trainer.max_epochs

    @staticmethod
    def is_last_iter(trainer: EpochBasedTrainer) -> bool:
        """Whether this is the last iteration of the run."""
        return trainer.iter + 1 == trainer.max_iters
