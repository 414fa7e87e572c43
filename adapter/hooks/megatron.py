"""MegatronHook: train in several processes that share layers."""

from __future__ import annotations

from collections.abc import Mapping

from adapter.errors import ConfigError, Problem
from adapter.hooks.hook import Hook
from adapter.hooks.priority import Priority
from adapter.registry import HOOKS


@HOOKS.register_module()
class MegatronHook(Hook):
    """Asks for tensor parallelism; the work is the strategy's.

    In a config the arguments stand in the ``megatron`` section.

    Args:
        tensor_model_parallel_size: Processes that share a layer.
        pipeline_model_parallel_size: 1; pipelines are not available.
        tensor_parallel_plan: Module name pattern (``layers.*.up``) to ``colwise``, ``rowwise`` or ``colwise_rep``
            (split by columns, with the whole output on every process); by default what the model's method
            ``tensor_parallel_plan()`` returns.

    Raises:
        ConfigError: A pipeline.
    """

    PRIORITY = Priority.HIGHEST
    STRATEGY = "tensor_parallel"

    def __init__(
        self,
        tensor_model_parallel_size: int = 1,
        pipeline_model_parallel_size: int = 1,
        tensor_parallel_plan: Mapping[str, str] | None = None,
    ) -> None:
        if pipeline_model_parallel_size != 1:
            raise ConfigError(
                Problem(
                    "pipeline_model_parallel_size",
                    f"found {pipeline_model_parallel_size}; a model is not divided into a pipeline of stages here",
                    "1",
                    fix="for a model that is too large for one device, raise tensor_model_parallel_size, or use "
                    "FSDPHook or DeepspeedHook (zero_stage 3) in place of MegatronHook",
                )
            )
        self.tensor_model_parallel_size = tensor_model_parallel_size
        self.tensor_parallel_plan = dict(tensor_parallel_plan or {})
