"""SwiftHook: the adapters of efficient tuning, from the config and to files of their own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter.hooks.hook import Hook
from adapter.registry import HOOKS
from adapter.tuners import read_tuners, save_tuners

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer


@HOOKS.register_module()
class SwiftHook(Hook):
    """Asks for adapters on the model, and writes them alone when training ends, to ``work_dir/adapters/<name>``.

    Checkpoint pairs hold the whole model, adapters included, so that a run can go on from them.

    Args:
        efficient_tuners: What the trainer's keyword of that name takes, for a config file that says it all:
            ``{"type": "lora", "target_modules": [...]}``; the keyword wins.

    Raises:
        ConfigError: The package is not installed, or has no such type or argument.
    """

    FOLDER = "adapters"

    def __init__(self, efficient_tuners: Mapping[str, Any] | None = None) -> None:
        self.tuners = read_tuners(efficient_tuners) if efficient_tuners else {}

    def after_run(self, trainer: EpochBasedTrainer) -> None:
        """Write the adapters."""
        if trainer.tuners and trainer.is_main_process:
            folder = Path(trainer.work_dir, self.FOLDER)
            save_tuners(trainer.unwrap_module(trainer.model), trainer.tuners, folder)
            trainer.logger.info("The adapters alone are in %s", folder)
