"""DeepSpeedCPUAdam: DeepSpeed's Adam for the CPU, which an offloaded optimizer runs on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from adapter.errors import ConfigError, Problem
from adapter.registry import OPTIMIZERS

KEY = "train.optimizer.type"

try:
    from deepspeed.ops.adam import DeepSpeedCPUAdam as Base
except ImportError as error:
    absent = Problem(KEY, f"DeepSpeedCPUAdam needs DeepSpeed: {error}", fix="pip install deepspeed")
    raise ConfigError(absent) from error


@OPTIMIZERS.register_module()
class DeepSpeedCPUAdam(Base):
    """DeepSpeed's own; its vectorized step is compiled when the first one is made, which takes a C++ compiler.

    Args:
        params: Parameters, or groups of them.
        lr: Learning rate.
        bias_correction: Correct the averages for their start at zero.
        betas: How much of the averages of gradients and of their squares is kept, a step.
        eps: Added to the denominator.
        weight_decay: Weight decay.
        amsgrad: DeepSpeed knows the argument, but has only False.
        adamw_mode: Decay weights as AdamW does; False as Adam.
        fp32_optimizer_states: Keep the averages in 32 bits whatever the parameters have.

    Raises:
        ConfigError: The step cannot be compiled here.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        bias_correction: bool = True,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        adamw_mode: bool = True,
        fp32_optimizer_states: bool = True,
    ) -> None:
        try:
            super().__init__(
                params, lr, bias_correction, tuple(betas), eps, weight_decay, amsgrad, adamw_mode, fp32_optimizer_states
            )
        except (TypeError, ValueError):
            raise
        except Exception as error:  # a compiler fails in many ways
            reason = str(error).strip().partition("\n")[0] or type(error).__name__
            fix = "install a C++ compiler and ninja, or use AdamW"
            problem = Problem(KEY, f"DeepSpeedCPUAdam cannot be compiled here: {reason}", fix=fix)
            raise ConfigError(problem) from error
