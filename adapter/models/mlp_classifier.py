"""A small classifier for rows of numbers."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from adapter.models.class_loss import loss_of
from adapter.models.mlp_layers import hidden_layers, rows_of
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
        if isinstance(num_classes, bool) or num_classes < 1:
            raise ValueError("num_classes counts from 1")
        layers, width = hidden_layers(in_features, hidden, dropout)
        self.in_features = in_features
        self.hidden = layers
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
        rows = rows_of(features, self.in_features, self.head.weight.dtype)
        logits = self.head(self.hidden(rows))
        if label is None:
            return {"logits": logits}
        return {"logits": logits, "loss": loss_of(nn.functional.cross_entropy, logits, label)}
