"""FSDPHook: train in several processes, each with a shard of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adapter.errors import ConfigError, Problem, nearest
from adapter.hooks.hook import Hook
from adapter.hooks.priority import Priority
from adapter.registry import HOOKS

FORMATS = ("bfloat16", "float16", "float32")
POLICY = ("param_dtype", "reduce_dtype", "output_dtype", "cast_forward_inputs")  # torch's MixedPrecisionPolicy


@HOOKS.register_module()
class FSDPHook(Hook):
    """Asks for FSDP2 (``torch.distributed.fsdp.fully_shard``); the work is the strategy's.

    A unit's parameters are gathered together when it runs. Without ``wrap_classes`` and ``min_params`` the whole model
    is one unit.

    Args:
        wrap_classes: Class name or names; each module of one of them is a unit.
        min_params: Smallest number of parameters of a unit; 0 makes no units by size.
        mixed_precision: Number format to compute in (``bfloat16``, ``float16``), or arguments of
            ``MixedPrecisionPolicy`` (``param_dtype``, ``reduce_dtype``, ``output_dtype``, ``cast_forward_inputs``).
        cpu_offload: Keep parameters, gradients and optimizer state in main memory.
        reshard_after_forward: Free a unit's gathered parameters between its forward and its backward pass; None
            leaves it to torch, which does so for every unit but the model itself.

    Raises:
        ConfigError: A number format or a policy argument that is not known.
    """

    PRIORITY = Priority.VERY_HIGH
    STRATEGY = "fsdp"

    def __init__(
        self,
        wrap_classes: str | Sequence[str] | None = None,
        min_params: int = 0,
        mixed_precision: str | Mapping[str, Any] | None = None,
        cpu_offload: bool = False,
        reshard_after_forward: bool | None = None,
    ) -> None:
        self.wrap_classes = (wrap_classes,) if isinstance(wrap_classes, str) else tuple(wrap_classes or ())
        self.min_params = min_params
        self.mixed_precision = policy_of(mixed_precision)
        self.cpu_offload = cpu_offload
        self.reshard_after_forward = reshard_after_forward


def policy_of(given: str | Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Arguments of ``MixedPrecisionPolicy``; one number format is the one to compute in, with gradients in float32.

    Raises:
        ConfigError: An unknown argument or number format.
    """
    if given is None:
        return None
    policy = {"param_dtype": given, "reduce_dtype": "float32"} if isinstance(given, str) else dict(given)
    unknown = [name for name in policy if name not in POLICY]
    problems = [
        Problem(f"mixed_precision.{name}", "is not known", ", ".join(POLICY), nearest(name, POLICY)) for name in unknown
    ]
    for name, value in policy.items():
        if name.endswith("_dtype") and value is not None and value not in FORMATS:
            key = "mixed_precision" if isinstance(given, str) else f"mixed_precision.{name}"
            problems.append(Problem(key, f"found {value!r}", ", ".join(FORMATS), nearest(value, FORMATS)))
    if problems:
        raise ConfigError(problems)
    return policy
