"""ModelScope's aids for tests of training scripts."""

from __future__ import annotations

import os
from typing import Any

import torch
from torch.utils.data import Dataset

LEVEL = "TEST_LEVEL"


def test_level() -> int:
    """How much a test is to do: the environment's ``TEST_LEVEL``, 0 by default."""
    return int(os.environ.get(LEVEL, "0"))


def set_test_level(level: int) -> None:
    """Set ``TEST_LEVEL`` for this process and those it starts."""
    os.environ[LEVEL] = str(level)


class DummyTorchDataset(Dataset[dict[str, torch.Tensor]]):
    """The same sample, ``num`` times.

    Args:
        feat: Becomes ``feat``, float32.
        label: Becomes ``labels``, float32.
        num: Samples.
    """

    def __init__(self, feat: Any, label: Any, num: int) -> None:
        self.feat, self.label, self.num = feat, label, num

    def __len__(self) -> int:
        return self.num

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        return {"feat": torch.Tensor(self.feat), "labels": torch.Tensor(self.label)}


def create_dummy_test_dataset(feat: Any, label: Any, num: int) -> DummyTorchDataset:
    """The same sample, ``num`` times."""
    return DummyTorchDataset(feat, label, num)
