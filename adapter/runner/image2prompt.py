"""Image2PromptTask: the embedding of the text that an image was made from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from adapter.runner.base_task import BaseTask
from adapter.runner.registration import registry


@registry.register_task("image2prompt")
class Image2PromptTask(BaseTask):
    """Mean cosine similarity. ``val_step`` gives ``(loss, predicted embedding, embedding)`` for each sample."""

    def after_evaluation(self, val_result: list[Any], epoch: int, **kwargs: Any) -> Mapping[str, Any]:
        """``agg_metrics`` and ``cosine_similarity`` (-1 to 1), and the mean ``loss``."""
        losses, predicted, wanted = zip(*val_result, strict=True)
        found, target = np.asarray(predicted, dtype=np.float64), np.asarray(wanted, dtype=np.float64)
        lengths = np.linalg.norm(found, axis=1) * np.linalg.norm(target, axis=1)
        similarity = float(np.mean((found * target).sum(axis=1) / np.maximum(lengths, 1e-8)))
        loss = float(np.mean([float(loss) for loss in losses]))
        return {"agg_metrics": similarity, "cosine_similarity": similarity, "loss": loss}
