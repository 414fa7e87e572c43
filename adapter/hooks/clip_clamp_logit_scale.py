"""ClipClampLogitScaleHook: keep the temperature of a CLIP model within bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapter.hooks.hook import Hook
from adapter.registry import HOOKS

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer

LARGEST = 4.6052  # the natural logarithm of 100


@HOOKS.register_module()
class ClipClampLogitScaleHook(Hook):
    """Clamps ``model.clip_model.logit_scale`` to [0, 4.6052] after each update."""

    def before_run(self, trainer: EpochBasedTrainer) -> None:
        """See that the model has what is to be clamped.

        Raises:
            ValueError: It does not.
        """
        model = trainer.unwrap_module(trainer.model)
        if not hasattr(getattr(model, "clip_model", None), "logit_scale"):
            raise ValueError(
                "ClipClampLogitScaleHook clamps model.clip_model.logit_scale, which "
                f"{type(model).__name__} does not have; remove the hook, or give the model one"
            )

    def after_train_iter(self, trainer: EpochBasedTrainer) -> None:
        """Clamp it."""
        model: Any = trainer.unwrap_module(trainer.model)
        model.clip_model.logit_scale.data.clamp_(0, LARGEST)
