"""DeepspeedHook: train with DeepSpeed's engine, which divides optimizer, gradients and weights among processes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adapter.hooks.hook import Hook
from adapter.hooks.priority import Priority
from adapter.registry import HOOKS


@HOOKS.register_module(module_name="DeepSpeedHook")
@HOOKS.register_module()
class DeepspeedHook(Hook):
    """Asks for DeepSpeed; the work is the strategy's.

    Args:
        config: DeepSpeed's config, a JSON file (beside the config file, or in the current folder) or a mapping. What
            the run's own config says too may be left out or ``"auto"``, and must not differ.
        zero_stage: What the processes share out: 0 nothing, 1 the optimizer's state, 2 gradients too, 3 weights too;
            None takes ``zero_optimization.stage`` of ``config``, else 2.
        save_zero_checkpoint: Save, beside each checkpoint with a trainer state, the folder of DeepSpeed's own that a
            resume needs. False saves weights only.
    """

    PRIORITY = Priority.VERY_HIGH
    STRATEGY = "deepspeed"

    def __init__(
        self,
        config: str | Mapping[str, Any] | None = None,
        zero_stage: int | None = None,
        save_zero_checkpoint: bool = True,
    ) -> None:
        self.config = config
        self.zero_stage = zero_stage
        self.save_zero_checkpoint = save_zero_checkpoint
