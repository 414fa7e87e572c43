"""A small model that gives a number for each row of numbers."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from adapter.models.mlp_layers import hidden_layers, rows_of
from adapter.registry import MODELS


@MODELS.register_module(module_name="mlp-regressor")
class MLPRegressor(nn.Module):
    """Linear layers with ReLU (and dropout) between them, and one number at their end.

    Args:
        in_features: Numbers in a row.
        hidden: Widths of the hidden layers, first to last; one number for a single layer.
        dropout: Probability, from 0 to 1, of dropping a hidden value while training.
    """

    def __init__(self, in_features: int, hidden: int | Sequence[int] = 64, dropout: float = 0.0) -> None:
        super().__init__()
        layers, width = hidden_layers(in_features, hidden, dropout)
        self.in_features = in_features
        self.hidden = layers
        self.head = nn.Linear(width, 1)

    def forward(self, features: Tensor, label: Tensor | None = None) -> dict[str, Tensor]:
        """A number for each row, and the mean squared error when the true ones are given.

        Args:
            features: (batch, in_features), any number type.
            label: (batch,), the true numbers.

        Returns:
            ``logits``: (batch, 1); ``loss``: a scalar, with labels only.

        Raises:
            ConfigError: Rows of another length.
        """
        rows = rows_of(features, self.in_features, self.head.weight.dtype)
        logits = self.head(self.hidden(rows))
        if label is None:
            return {"logits": logits}
        return {"logits": logits, "loss": nn.functional.mse_loss(logits.flatten(), label.flatten().to(logits.dtype))}
