"""SparseLinear: a linear layer that is pruned while it is trained, through low-rank updates of weight and mask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn

FACTORS = ("weight_U", "weight_V", "mask_scores_A", "mask_scores_B", "mask_scores_R", "mask_scores_C")


@dataclass(frozen=True)
class LowRank:
    """Sizes of the updates.

    Attributes:
        weight_rank: Rank of the weight's update.
        weight_beta: Its factor.
        mask_rank: Rank of the update of the importance of single entries.
        mask_alpha1: Its factor.
        mask_alpha2: Factor of the importance of whole rows and columns.
    """

    weight_rank: int = 8
    weight_beta: float = 1.0
    mask_rank: int = 8
    mask_alpha1: float = 1.0
    mask_alpha2: float = 1.0


class SparseLinear(nn.Linear):
    """Multiplies by ``(W + beta U V) * mask``, with W and the bias frozen.

    The mask drops the entries of least importance ``|W + beta U V| + alpha1 A B + alpha2 (R + C)``, where R belongs to
    the rows and C to the columns. Its gradient passes straight through to the importance. A layer becomes one, and a
    plain one again, in place.

    Attributes:
        sparsity: Fraction of entries dropped.
    """

    low_rank: LowRank
    sparsity: float
    weight_U: nn.Parameter
    weight_V: nn.Parameter
    mask_scores_A: nn.Parameter
    mask_scores_B: nn.Parameter
    mask_scores_R: nn.Parameter
    mask_scores_C: nn.Parameter

    @classmethod
    def take_over(cls, layer: nn.Linear, low_rank: LowRank) -> SparseLinear:
        """Turn a linear layer into a sparse one that computes the same, until ``sparsity`` is raised."""
        layer.__class__ = cls
        sparse = cast("SparseLinear", layer)
        sparse.low_rank, sparse.sparsity = low_rank, 0.0
        rows, columns = layer.weight.shape
        start = {
            "weight_U": torch.randn(rows, low_rank.weight_rank),
            "weight_V": torch.zeros(low_rank.weight_rank, columns),
            "mask_scores_A": torch.randn(rows, low_rank.mask_rank),
            "mask_scores_B": torch.zeros(low_rank.mask_rank, columns),
            "mask_scores_R": torch.zeros(rows),
            "mask_scores_C": torch.zeros(columns),
        }
        for parameter in layer.parameters():
            parameter.requires_grad_(False)
        for name in FACTORS:
            layer.register_parameter(name, nn.Parameter(start[name].to(layer.weight)))
        return sparse

    def restore(self) -> nn.Linear:
        """Turn it into a linear layer again, whose weight is the pruned one."""
        with torch.no_grad():
            self.weight = nn.Parameter(self.pruned_weight())
        for name in FACTORS:
            delattr(self, name)
        if self.bias is not None:
            self.bias.requires_grad_(True)
        del self.low_rank, self.sparsity
        layer = cast("nn.Linear", self)
        layer.__class__ = nn.Linear
        return layer

    def factors(self) -> list[nn.Parameter]:
        """What is trained."""
        return [getattr(self, name) for name in FACTORS]

    def pruned_weight(self) -> Tensor:
        """The weight in use, (out_features, in_features)."""
        how = self.low_rank
        weight: Tensor = self.weight + how.weight_beta * self.weight_U @ self.weight_V
        lines = self.mask_scores_R.unsqueeze(1) + self.mask_scores_C.unsqueeze(0)
        entries = self.mask_scores_A @ self.mask_scores_B
        importance = weight.abs() + how.mask_alpha1 * entries + how.mask_alpha2 * lines
        return weight * _KeepLargest.apply(importance, int(self.sparsity * weight.numel()))

    def forward(self, input: Tensor) -> Tensor:
        """(..., in_features) to (..., out_features)."""
        return nn.functional.linear(input, self.pruned_weight(), self.bias)


class _KeepLargest(torch.autograd.Function):
    """1 for the largest entries and 0 for the ``dropped`` smallest; the gradient passes as if it were the entries."""

    @staticmethod
    def forward(ctx: Any, importance: Tensor, dropped: int) -> Tensor:
        mask = torch.ones_like(importance)
        if dropped:
            mask.view(-1)[importance.reshape(-1).topk(dropped, largest=False).indices] = 0
        return mask

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return gradients[0], None


def sparse_layers(model: nn.Module) -> list[SparseLinear]:
    """The sparse layers of a model, in its order."""
    return [module for module in model.modules() if type(module) is SparseLinear]
