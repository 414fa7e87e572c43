"""ApexAMPOptimizerHook: Apex's levels of mixed precision, by Lightning's precisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapter.errors import ConfigError, Problem, nearest
from adapter.hooks.optimizer import NoneOptimizerHook
from adapter.hooks.torch_amp_optimizer import warn_of_precision
from adapter.registry import HOOKS

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer

APEX_PRECISION = {"O0": "32-true", "O1": "16-mixed", "O2": "16-true", "O3": "16-true"}


@HOOKS.register_module()
class ApexAMPOptimizerHook(NoneOptimizerHook):
    """Asks for the precision that comes nearest to a level; OptimizerHook, registered beside it, propagates and steps.

    Apex itself is not used.

    Args:
        opt_level: ``O0`` is Lightning's 32-true, ``O1`` 16-mixed, ``O2`` and ``O3`` 16-true.
        kwargs: Arguments of OptimizerHook.

    Raises:
        ConfigError: Another level.
    """

    def __init__(self, opt_level: str = "O1", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if opt_level not in APEX_PRECISION:
            near = nearest(opt_level, APEX_PRECISION)
            raise ConfigError(Problem("opt_level", f"found {opt_level!r}", ", ".join(APEX_PRECISION), near))
        self.opt_level = opt_level

    def before_run(self, trainer: EpochBasedTrainer) -> None:
        """Say what is used in place of Apex."""
        precision = APEX_PRECISION[self.opt_level]
        told = "ApexAMPOptimizerHook: opt_level %s is run as Lightning's precision %s, without apex"
        trainer.logger.warning(told, self.opt_level, precision)
        warn_of_precision(trainer, precision, type(self).__name__)
