"""A small classifier for rows of numbers."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

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
        layers: list[nn.Module] = []
        width = in_features
        for size in [hidden] if isinstance(hidden, int) else hidden:
            layers += [nn.Linear(width, size), nn.ReLU()]
            if dropout:
                layers.append(nn.Dropout(dropout))
            width = size
        self.hidden = nn.Sequential(*layers)
        self.head = nn.Linear(width, num_classes)

    def forward(self, features: Tensor, label: Tensor | None = None) -> dict[str, Tensor]:
        """Scores of each class, and the mean cross entropy when labels are given.

        Args:
            features: (batch, in_features), any number type.
            label: (batch,), class numbers from 0.

        Returns:
            ``logits``: (batch, num_classes); ``loss``: a scalar, with labels only.
        """
        logits = self.head(self.hidden(features.flatten(1).to(self.head.weight.dtype)))
        if label is None:
            return {"logits": logits}
        return {"logits": logits, "loss": nn.functional.cross_entropy(logits, label)}
