"""Which metrics a documented config asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adapter.metrics.task_metrics import task_default_metrics
from adapter.schema.hook_list import section


def metric_entries(config: Mapping[str, Any]) -> dict[str, Any]:
    """Names and mappings of ``evaluation.metrics`` by their key; empty when the config names none."""
    metrics = section(config, "evaluation").get("metrics")
    if isinstance(metrics, (list, tuple)):
        return {f"evaluation.metrics[{index}]": item for index, item in enumerate(metrics)}
    return {"evaluation.metrics": metrics} if metrics else {}


def default_metrics(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the metrics that the config's task is evaluated with when it names none."""
    task = config.get("task")
    return tuple(task_default_metrics(task)) if isinstance(task, str) else ()
