"""ClassificationTask: one label a sample."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from adapter.runner.base_task import BaseTask
from adapter.runner.registration import registry


@registry.register_task("classification")
class ClassificationTask(BaseTask):
    """Accuracy in percent. The model's ``val_step`` gives ``(loss, scores, label)`` for each sample."""

    def after_evaluation(self, val_result: list[Any], epoch: int, **kwargs: Any) -> Mapping[str, Any]:
        """``agg_metrics`` and ``ACC`` (percent of labels that got the highest score), and the mean ``loss``."""
        losses, scores, labels = zip(*val_result, strict=True)
        right = sum(
            int(np.argmax(np.asarray(score))) == int(label) for score, label in zip(scores, labels, strict=True)
        )
        accuracy = 100 * right / len(labels)
        return {"agg_metrics": accuracy, "ACC": accuracy, "loss": float(np.mean([float(loss) for loss in losses]))}
