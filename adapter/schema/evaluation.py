"""The ``evaluation`` section."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from adapter.schema.field import Doc
from adapter.schema.hooks import EvaluationArguments
from adapter.schema.train import DataLoader


@dataclass(frozen=True, kw_only=True)
class MetricEntry:
    """A metric; other keys are arguments of its class."""

    OPEN = "metric"

    type: Annotated[str, Doc("Registered name, class of torchmetrics or import path.", target="class")]


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Everything about evaluation."""

    metrics: Annotated[
        str | MetricEntry | list[str | MetricEntry] | None,
        Doc("What is computed; the task's default metric when absent.", target="metrics"),
    ] = None
    dataloader: Annotated[DataLoader | None, Doc("Loader of the evaluation data.", target="evaluation data loader")] = (
        None
    )
    period: Annotated[
        EvaluationArguments | None,
        Doc("When to evaluate during training; never when absent.", hook="EvaluationHook"),
    ] = None
    val_iters_per_epoch: Annotated[
        int | None,
        Doc(
            "Iterations in an evaluation; needed for data without length.",
            unit="iterations",
            minimum=1,
            target="length of an evaluation",
        ),
    ] = None
    visualization: Annotated[
        dict | None,
        Doc(
            "Passed to trainer.visualization(batch_result, dataset, **cfg) after each batch.",
            target="trainer.visualization",
        ),
    ] = None
    gpu_collect: Annotated[
        bool, Doc("Accepted; results are always gathered without files.", target="no effect needed")
    ] = False
    cache_dir: Annotated[
        str | None, Doc("Accepted; results are always gathered without files.", target="no effect needed")
    ] = None
