"""Models, data and a hook that the recorded cases need beside those of golden/cases.py."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import Dataset

from adapter import Hook, Priority
from tests.parity.golden.cases import TinyNet, sample


class Variant(TinyNet):
    """TinyNet with one thing changed.

    Args:
        kind: ``bn`` batch normalization between hidden and tanh; ``one_dict`` forward takes the batch as ``input``;
            ``binary`` two classes; ``with_labels`` the output has ``labels``, the argmax; ``two_losses`` it has
            ``aux_loss``; ``two_separate_losses`` that shares no graph with ``loss``.
    """

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind
        if kind == "bn":
            self.norm = nn.BatchNorm1d(16)
        if kind == "binary":
            self.head = nn.Linear(16, 2)
        if kind == "one_dict":
            self.forward = self.forward_dict
        norm = [self.norm] if kind == "bn" else []
        fill([p for module in (self.hidden, *norm, self.head) for p in module.parameters()])

    def forward_dict(self, input: dict[str, Tensor]) -> dict[str, Tensor]:
        return Variant.forward(self, **input)

    def forward(self, feat: Tensor, labels: Tensor) -> dict[str, Tensor]:
        hidden = self.hidden(feat)
        logits = self.head(self.drop(torch.tanh(self.norm(hidden) if self.kind == "bn" else hidden)))
        out = {"logits": logits, "loss": nn.functional.cross_entropy(logits, labels)}
        if self.kind == "with_labels":
            out["labels"] = logits.argmax(-1)
        if self.kind == "two_losses":
            out["aux_loss"] = 0.1 * (logits**2).mean()
        if self.kind == "two_separate_losses":
            out["aux_loss"] = 0.1 * (self.head.bias**2).mean()
        return out


def fill(parameters: list[nn.Parameter]) -> None:
    """Parameter number k, flat element e: 0.25 * cos(0.61 * e + k)."""
    with torch.no_grad():
        for k, parameter in enumerate(parameters):
            e = torch.arange(parameter.numel(), dtype=torch.float64)
            parameter.copy_((0.25 * torch.cos(0.61 * e + k)).reshape(parameter.shape).float())


class Samples(Dataset):
    """The samples of golden/cases.py, with labels folded to fewer classes."""

    def __init__(self, n: int, classes: int = 4) -> None:
        self.n, self.classes = n, classes

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, i: int) -> dict[str, Tensor]:
        one = sample(i)
        return {**one, "labels": one["labels"] % self.classes}


class StepItHook(Hook):
    """What a user writes beside NoneOptimizerHook and NoneLrSchedulerHook."""

    PRIORITY = Priority.ABOVE_NORMAL

    def __init__(self, lr: bool = False) -> None:
        self.lr = lr

    def after_train_iter(self, trainer: Any) -> None:
        trainer.optimizer.zero_grad()
        trainer.train_outputs["loss"].backward()
        trainer.optimizer.step()

    def after_train_epoch(self, trainer: Any) -> None:
        if self.lr:
            trainer.lr_scheduler.step()
