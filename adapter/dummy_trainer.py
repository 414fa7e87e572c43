"""DummyTrainer: reads a config and trains nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from adapter.base_trainer import BaseTrainer
from adapter.registry import TRAINERS


@TRAINERS.register_module(module_name="dummy")
class DummyTrainer(BaseTrainer):
    """Stands in for a trainer where only its config matters; ``train`` and ``evaluate`` log that they were called.

    Args:
        cfg_file: Config file, or a config that has been read already.
        args: Not looked at.
        kwargs: ``arg_parse_fn`` and ``trust_remote_code`` as for any trainer; the others are not looked at.
    """

    def __init__(self, cfg_file: str | os.PathLike[str] | Mapping[str, Any], *args: Any, **kwargs: Any) -> None:
        super().__init__(cfg_file, kwargs.get("arg_parse_fn"), bool(kwargs.get("trust_remote_code")))

    def train(self, *args: Any, **kwargs: Any) -> None:
        """Log the config's ``train`` section."""
        self.logger.info("dummy trainer: train %s", self.cfg.get("train"))

    def evaluate(self, checkpoint_path: str | None = None, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Log the config's ``evaluation`` section; returns no values."""
        self.logger.info("dummy trainer: evaluate %s", self.cfg.get("evaluation"))
        return {}
