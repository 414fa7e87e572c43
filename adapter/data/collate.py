"""Collators: from a list of samples to a batch."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from torch import nn
from torch.utils.data import default_collate

from adapter.models.forward import takes_one_mapping


class RemoveColumnsCollator:
    """Drops the columns a model's forward does not take, before collating; they need not be collatable.

    Samples that are not mappings pass unchanged.

    Args:
        columns: Names to keep.
        collate_fn: What makes a batch of the reduced samples; torch's ``default_collate`` by default.
    """

    def __init__(self, columns: Collection[str], collate_fn: Callable[[list[Any]], Any] = default_collate) -> None:
        self.columns = frozenset(columns)
        self.collate_fn = collate_fn

    def __call__(self, samples: Sequence[Any]) -> Any:
        """The batch of the samples' kept columns."""
        return self.collate_fn([self._reduce(sample) for sample in samples])

    def _reduce(self, sample: Any) -> Any:
        if not isinstance(sample, Mapping):
            return sample
        return {name: value for name, value in sample.items() if name in self.columns}


def forward_columns(model: nn.Module) -> frozenset[str] | None:
    """Names of the columns that ``model.forward`` takes; None when it takes any, or the batch as a whole."""
    parameters = list(inspect.signature(model.forward).parameters.values())
    keywords = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters)
    if takes_all or takes_one_mapping(model) or not keywords:
        return None
    return frozenset(p.name for p in keywords)
