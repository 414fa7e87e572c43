"""State inside DeepSpeed's engine: whole weights out of it and into it, its checkpoint folder, unfinished gradients."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch
from deepspeed import zero
from deepspeed.runtime.bf16_optimizer import BF16_Optimizer
from deepspeed.runtime.checkpoint_engine import TorchCheckpointEngine
from deepspeed.runtime.fp16.loss_scaler import DynamicLossScaler, LossScaler
from deepspeed.runtime.zero.config import ZeroStageEnum
from deepspeed.runtime.zero.stage_1_and_2 import DeepSpeedZeroOptimizer
from deepspeed.utils import (
    safe_get_full_fp32_param,
    safe_get_local_grad,
    safe_set_full_fp32_param,
    safe_set_local_fp32_param,
    safe_set_local_grad,
)
from deepspeed.utils.tensor_fragment import fragment_address
from torch import Tensor, nn

from adapter.checkpoint.weights import load_weights

LOST = "out of reach"
TAG = "state"  # DeepSpeed's name for the one state in a folder
SAFE = (ZeroStageEnum, LossScaler, DynamicLossScaler, fragment_address)


class SafeCheckpointEngine(TorchCheckpointEngine):
    """Reads DeepSpeed's files without running code that a file may hold."""

    def load(self, path: str, map_location: Any = None) -> Any:
        """What ``save`` wrote.

        Raises:
            ValueError: Damaged, or holding objects that would run code.
        """
        try:
            with torch.serialization.safe_globals(list(SAFE)):
                return torch.load(path, map_location=map_location, weights_only=True)
        except (RuntimeError, EOFError, pickle.UnpicklingError) as error:
            reason = "it is damaged, or holds objects that would run code"
            raise ValueError(f"cannot load the DeepSpeed state '{path}': {reason}") from error


def is_divided(parameter: object) -> bool:
    """Whether the processes share out a parameter's weights (stage 3)."""
    return hasattr(parameter, "ds_id")


def gathered(parameters: Iterable[nn.Parameter], changed: bool = False) -> AbstractContextManager[Any]:
    """A context in which parameters are whole on all processes; with ``changed``, the main process's go to all."""
    divided = [parameter for parameter in parameters if is_divided(parameter)]
    return zero.GatheredParameters(divided, modifier_rank=0 if changed else None) if divided else nullcontext()


def whole_weights(model: nn.Module) -> dict[str, Tensor]:
    """A model's weights in 32 bits, as DeepSpeed keeps them beside those it computes with; all processes take part.

    Args:
        model: The user's model, in the engine or not yet.

    Returns:
        Name to tensor on the main process; copies are in main memory. Nothing on the others.
    """
    main = not torch.distributed.is_initialized() or torch.distributed.get_rank() == 0
    weights: dict[str, Tensor] = {}
    for name, value in model.state_dict(keep_vars=True).items():
        whole = _whole(value)
        if main:
            weights[name] = whole
    return weights


def _whole(value: Any) -> Any:
    if not isinstance(value, Tensor):
        return value
    if hasattr(value, "_hp_mapping") or (hasattr(value, "_z3_optimizer") and value.requires_grad):
        return safe_get_full_fp32_param(value).cpu()
    with gathered([value]):  # type: ignore[list-item]  # a buffer is never divided
        whole = value.detach().cpu() if is_divided(value) else value.detach()
        if whole.dtype in (torch.float16, torch.bfloat16):
            return whole.float()
        return whole.clone() if is_divided(value) else whole


def load_whole_weights(model: nn.Module, weights: Mapping[str, Any], strict: bool) -> list[str]:
    """Put whole weights into a model and, in the engine, into the 32-bit weights beside it; all processes take part.

    Raises:
        ValueError: A shape that does not fit, or with ``strict`` a name.
    """
    parameters = dict(model.named_parameters())
    with gathered(parameters.values(), changed=True):
        found = load_weights(model, weights, strict)
    for name, parameter in parameters.items():
        if name in weights and parameter.requires_grad:
            _set_master(parameter, weights[name].to(parameter.device, torch.float32))
    return found


def _set_master(parameter: Any, whole: Tensor) -> None:
    """Set the 32-bit weights that DeepSpeed updates; it has none of its own outside of ZeRO."""
    if not hasattr(parameter, "_z3_optimizer"):
        safe_set_full_fp32_param(parameter, whole)
        return
    # DeepSpeed's own function for stage 3 does not pad weights that the processes cannot share out evenly
    size, rank = parameter.ds_tensor.numel(), torch.distributed.get_rank()
    mine = torch.zeros_like(parameter.ds_tensor, dtype=torch.float32)
    part = whole.flatten()[size * rank : size * (rank + 1)]
    mine[: part.numel()] = part
    safe_set_local_fp32_param(parameter, mine)


def save_engine(engine: Any, folder: Path) -> None:
    """Write the engine's state in DeepSpeed's own layout; all processes take part."""
    engine.save_checkpoint(str(folder), tag=TAG)


def load_engine(engine: Any, folder: Path) -> None:
    """Put back what ``save_engine`` wrote, on as many processes and in the same stage.

    Raises:
        ValueError: It is damaged, or not there.
    """
    usual, engine.checkpoint_engine = engine.checkpoint_engine, SafeCheckpointEngine()
    try:
        found, _ = engine.load_checkpoint(str(folder), tag=TAG)
    except (AssertionError, RuntimeError, KeyError) as error:
        raise ValueError(f"DeepSpeed cannot load '{folder}': {error}") from error
    finally:
        engine.checkpoint_engine = usual
    if found is None:
        raise ValueError(f"'{folder}' holds no state of DeepSpeed's")


def unfinished_gradients(engine: Any) -> dict[str, Tensor]:
    """Gradients of an accumulation that is under way, as this process holds them.

    Stages 0 and 1 leave them in the parameters, 2 keeps reduced ones in the optimizer, 3 the process's parts. With an
    offloaded optimizer, or gradients of another number format than the weights, they are out of reach.
    """
    if not _within_reach(engine):
        return {LOST: torch.zeros(())}
    stage, named = engine.zero_optimization_stage(), _trainable(engine)
    if stage == 3:
        return {name: safe_get_local_grad(parameter) for name, parameter in named}
    if stage == 2:
        reduced = engine.optimizer.all_grad_tensors
        return {f"{group}.{n}": tensor for group, tensors in reduced.items() for n, tensor in enumerate(tensors or ())}
    return {name: parameter.grad for name, parameter in named if parameter.grad is not None}


def restore_gradients(engine: Any, gradients: Mapping[str, Tensor]) -> None:
    """Put back what ``unfinished_gradients`` returned.

    Raises:
        ValueError: They were out of reach.
    """
    if LOST in gradients:
        raise ValueError(
            "the checkpoint was saved in the middle of an accumulation, whose gradients DeepSpeed does not hand out "
            "here; go on from one that was saved after a multiple of cumulative_iters iterations"
        )
    stage, optimizer, device = engine.zero_optimization_stage(), engine.optimizer, engine.device
    if stage == 2:
        groups: dict[int, list[Tensor]] = {}
        for key, tensor in gradients.items():
            groups.setdefault(int(key.partition(".")[0]), []).append(tensor.to(device))
        optimizer.all_grad_tensors.update(groups)
        return
    for name, parameter in _trainable(engine):
        if stage == 3:
            safe_set_local_grad(parameter, gradients[name].to(device))
            optimizer.micro_step_id = 1  # what comes next is added to it
        elif name in gradients:
            parameter.grad = gradients[name].to(parameter)


def _within_reach(engine: Any) -> bool:
    """Whether DeepSpeed's optimizer keeps unfinished gradients where they can be read, and put back."""
    optimizer, stage = engine.optimizer, engine.zero_optimization_stage()
    if stage == 3:
        return not optimizer.offload_optimizer
    if isinstance(optimizer, DeepSpeedZeroOptimizer):
        return not optimizer.cpu_offload and optimizer.dtype == optimizer.gradient_accumulation_dtype
    return not isinstance(optimizer, BF16_Optimizer)


def _trainable(engine: Any) -> Iterator[tuple[str, nn.Parameter]]:
    return ((name, parameter) for name, parameter in engine.module.named_parameters() if parameter.requires_grad)
