"""How high the right documents of a query are ranked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torchmetrics.retrieval import RetrievalMRR, RetrievalNormalizedDCG

from adapter.metrics.metric import LABELS, Metric, as_tensor, column
from adapter.registry import METRICS


@METRICS.register_module(module_name="text-ranking-metric")
class TextRankingMetric(Metric):
    """mrr and ndcg: means over the queries.

    Reads the output ``logits``, one score a document, (batch,) or (batch, 1), and the inputs ``labels`` or
    ``label``, the relevance from 0, and ``qid``, numbers or strings. A document of relevance 1 is a right one for
    mrr; ndcg takes the relevance as the gain. A query without a right document scores 0. A query's documents may
    come in several batches, which is why every score is kept.

    Args:
        mrr_k: How many of a query's best documents mrr looks at.
        ndcg_k: How many of them ndcg looks at.
    """

    VALUES = ("mrr", "ndcg")

    def __init__(self, mrr_k: int = 1, ndcg_k: int = 1) -> None:
        self._mrr = RetrievalMRR(top_k=mrr_k)
        self._ndcg = RetrievalNormalizedDCG(top_k=ndcg_k)
        self._scores: list[Tensor] = []
        self._labels: list[Tensor] = []
        self._queries: list[Any] = []

    def add(self, outputs: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
        """Keep the batch, on its device.

        Raises:
            ValueError: There is not one score and one query for each label.
        """
        scores = as_tensor(column(outputs, ("logits",), "the model's output"))
        labels = as_tensor(column(inputs, LABELS, "the batch"))
        queries = column(inputs, ("qid",), "the batch")
        if not scores.numel() == labels.numel() == len(queries):
            found = f"scores {tuple(scores.shape)}, labels {tuple(labels.shape)} and {len(queries)} queries"
            raise ValueError(f"text-ranking-metric takes one score and one query a label; got {found}")
        self._scores.append(scores.reshape(-1))
        self._labels.append(labels.reshape(-1))
        self._queries.append(queries)

    def evaluate(self) -> dict[str, Any]:
        """The means, each from 0 to 1.

        Raises:
            ValueError: Nothing was added.
        """
        if not self._scores:
            raise ValueError("text-ranking-metric has nothing to evaluate: no batch was added")
        scores = torch.cat(self._scores).double().cpu()
        labels = torch.cat(self._labels).long().cpu()
        queries = np.concatenate([_on_host(part).reshape(-1) for part in self._queries])
        indexes = torch.from_numpy(np.unique(queries, return_inverse=True)[1].reshape(-1))
        places = scores.argsort(descending=True, stable=True).argsort()  # the first of two equal ones stays the first
        mrr = self._mrr.forward((len(places) - places).double(), labels == 1, indexes)
        return {"mrr": float(mrr), "ndcg": float(self._ndcg.forward(scores, labels, indexes))}

    def merge(self, other: TextRankingMetric) -> None:
        """Add the other's documents."""
        device = self._scores[0].device if self._scores else None
        self._scores += [part.to(device) for part in other._scores]
        self._labels += [part.to(device) for part in other._labels]
        self._queries += other._queries

    def __getstate__(self) -> dict[str, Any]:
        sides = {name: [part.cpu() for part in getattr(self, name)] for name in ("_scores", "_labels")}
        return {**super().__getstate__(), **sides, "_queries": [_on_host(part) for part in self._queries]}


def _on_host(queries: Any) -> Any:
    return queries.cpu().numpy() if isinstance(queries, Tensor) else np.asarray(queries)
