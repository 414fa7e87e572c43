"""MegatronHook: train in several processes that share layers."""

from __future__ import annotations

from collections.abc import Mapping

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
            ``tensor_parallel_plan()`` returns."""

    PRIORITY = Priority.HIGHEST
    STRATEGY = "tensor_parallel"

    def __init__(
        self,
        tensor_model_parallel_size: int = 1,
        pipeline_model_parallel_size: int = 1,
        tensor_parallel_plan: Mapping[str, str] | None = None,
    ) -> None:
        self.tensor_model_parallel_size = tensor_model_parallel_size
        self.pipeline_model_parallel_size = pipeline_model_parallel_size
        self.tensor_parallel_plan = dict(tensor_parallel_plan or {})
