"""ChildTuningAdamW: AdamW that updates a part of the network only."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter
from torch.optim import Optimizer

from adapter.registry import OPTIMIZERS

FREE, DRIVEN = "ChildTuning-F", "ChildTuning-D"
MODES = (None, FREE, DRIVEN)


@OPTIMIZERS.register_module()
class ChildTuningAdamW(Optimizer):
    """AdamW whose gradients are masked: at random (ChildTuning-F) or by a mask that is given (ChildTuning-D).

    Args:
        params: Parameters or parameter groups.
        lr: Step size.
        betas: Decay of the running averages of the gradient and of its square.
        eps: Added to the denominator.
        weight_decay: Decay of the weights themselves, times ``lr``.
        correct_bias: Correct the averages for starting from 0.
        reserve_p: With ChildTuning-F, the probability of an entry to keep its gradient, which is divided by it.
        mode: ``ChildTuning-F``, ``ChildTuning-D``, or None for plain AdamW.

    Raises:
        ValueError: A value out of range, or another mode.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        correct_bias: bool = True,
        reserve_p: float = 1.0,
        mode: str | None = None,
    ) -> None:
        if lr < 0 or eps < 0 or not all(0 <= beta < 1 for beta in betas):
            raise ValueError(f"lr {lr} and eps {eps} must not be negative, betas {tuple(betas)} must be in [0, 1)")
        if len(betas) != 2:
            raise ValueError(f"betas {tuple(betas)} must be two numbers")
        if not 0 < reserve_p <= 1:
            raise ValueError(f"reserve_p {reserve_p} must be in (0, 1]")
        if mode not in MODES:
            raise ValueError(f"mode {mode!r} is none of {', '.join(map(str, MODES))}")
        groups = {"lr": lr, "betas": tuple(betas), "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, {**groups, "correct_bias": correct_bias})
        self.reserve_p = reserve_p
        self.mode = mode
        self.gradient_mask: dict[Parameter, Tensor] | None = None
        self._resumed = False  # whether the mask is that of a run which is resumed, and no step has been made since

    def set_gradient_mask(self, gradient_mask: Mapping[Parameter, Tensor]) -> None:
        """Set what ChildTuning-D multiplies gradients by.

        After ``load_state_dict`` brought a mask, and until the next step, that mask stays: a hook that computes one
        when training begins would compute another from the weights of a resumed run.

        Args:
            gradient_mask: Parameter to a tensor of its shape; a parameter that is absent is not masked.
        """
        if self._resumed:
            warnings.warn("ChildTuningAdamW keeps the gradient mask of the run that is resumed", stacklevel=2)
            return
        self.gradient_mask = dict(gradient_mask)

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters that have a gradient; returns what ``closure`` does.

        Raises:
            RuntimeError: Mode ChildTuning-D, and no mask has been set.
        """
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        if self.mode == DRIVEN and self.gradient_mask is None:
            raise RuntimeError("mode ChildTuning-D needs optimizer.set_gradient_mask(...) before the first step")
        self._resumed = False
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._update(parameter, self._masked(parameter), group)
        return loss

    def _masked(self, parameter: Parameter) -> Tensor:
        gradient: Tensor = parameter.grad  # type: ignore[assignment]
        if self.mode == FREE:
            kept = torch.bernoulli(torch.full_like(gradient, self.reserve_p))
            return gradient * (kept / self.reserve_p)
        if self.mode == DRIVEN and self.gradient_mask and parameter in self.gradient_mask:
            return gradient * self.gradient_mask[parameter]
        return gradient

    def _update(self, parameter: Parameter, gradient: Tensor, group: Mapping[str, Any]) -> None:
        state = self.state[parameter]
        if not state:
            state.update(step=0, exp_avg=torch.zeros_like(parameter), exp_avg_sq=torch.zeros_like(parameter))
        state["step"] += 1
        beta1, beta2 = group["betas"]
        state["exp_avg"].mul_(beta1).add_(gradient, alpha=1 - beta1)
        state["exp_avg_sq"].mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
        size = group["lr"]
        if group["correct_bias"]:
            size = size * math.sqrt(1 - beta2 ** state["step"]) / (1 - beta1 ** state["step"])
        parameter.addcdiv_(state["exp_avg"], state["exp_avg_sq"].sqrt().add_(group["eps"]), value=-size)
        if group["weight_decay"] > 0:
            parameter.add_(parameter, alpha=-group["lr"] * group["weight_decay"])

    def state_dict(self) -> dict[str, Any]:
        """As torch's, with the gradient mask by the number of its parameter."""
        mask = self.gradient_mask or {}
        kept = {number: mask[parameter] for number, parameter in self._numbered() if parameter in mask}
        return {**super().state_dict(), "gradient_mask": kept if self.gradient_mask is not None else None}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """As torch's; a gradient mask in it is put back."""
        super().load_state_dict({name: value for name, value in state_dict.items() if name != "gradient_mask"})
        mask = state_dict.get("gradient_mask")
        if mask is not None:
            by_number = dict(self._numbered())
            self.gradient_mask = {by_number[number]: value.to(by_number[number]) for number, value in mask.items()}
            self._resumed = True

    def _numbered(self) -> list[tuple[int, Parameter]]:
        """Each parameter with its number over all groups."""
        return list(enumerate(parameter for group in self.param_groups for parameter in group["params"]))
