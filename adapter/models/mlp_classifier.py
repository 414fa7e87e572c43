"""A small classifier for rows of numbers."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from adapter.errors import ConfigError, Problem
from adapter.models.class_loss import loss_of
from adapter.registry import MODELS


@MODELS.register_module(module_name="mlp-classifier")
class MLPClassifier(nn.Module):
    """Linear layers with ReLU (and dropout) between them.

    Args:
        in_features: Numbers in a row.
        num_classes: Classes to tell apart.
        hidden: Widths of the hidden layers, first to last; one number for a single layer.
        dropout: Probability, from 0 to 1, of dropping a hidden value while training.
    """

    def __init__(
        self, in_features: int, num_classes: int, hidden: int | Sequence[int] = 64, dropout: float = 0.0
    ) -> None:
        super().__init__()
        widths = [hidden] if isinstance(hidden, int) else list(hidden)
        if any(isinstance(size, bool) or size < 1 for size in (in_features, num_classes, *widths)):
            raise ValueError("in_features, num_classes and hidden count from 1")
        layers: list[nn.Module] = []
        width = in_features
        for size in widths:
            layers += [nn.Linear(width, size), nn.ReLU()]
            if dropout:
                layers.append(nn.Dropout(dropout))
            width = size
        self.in_features = in_features
        self.hidden = nn.Sequential(*layers)
        self.head = nn.Linear(width, num_classes)

    def forward(self, features: Tensor, label: Tensor | None = None) -> dict[str, Tensor]:
        """Scores of each class, and the mean cross entropy when labels are given.

        Args:
            features: (batch, in_features), any number type.
            label: (batch,), class numbers from 0.

        Returns:
            ``logits``: (batch, num_classes); ``loss``: a scalar, with labels only.

        Raises:
            ConfigError: Rows of another length, or labels that are no class numbers.
        """
        rows = features.flatten(1).to(self.head.weight.dtype)
        if rows.shape[1] != self.in_features:
            found = f"{self.in_features}, but the data have rows of {rows.shape[1]} numbers"
            raise ConfigError(Problem("model.in_features", found))
        logits = self.head(self.hidden(rows))
        if label is None:
            return {"logits": logits}
        return {"logits": logits, "loss": loss_of(nn.functional.cross_entropy, logits, label)}
