"""Batches of every kind, data without length, and metrics of the user's own."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import Dataset, IterableDataset

from adapter import METRICS, Metric
from tests.parity.golden.cases import TinyNet, sample
from tests.small_runs import all_logits, build, losses, settings

EVALUATE = {"evaluation__period": {"interval": 1}}


class LargestLogit(Metric):
    """A metric of the user's own."""

    def __init__(self, name: str = "largest") -> None:
        self.name, self.value, self.batches = name, -math.inf, 0

    def add(self, outputs: Any, inputs: Any) -> None:
        assert len(inputs["feat"]) == len(outputs["logits"])
        self.batches += 1
        self.value = max(self.value, float(outputs["logits"].max()))

    def evaluate(self) -> dict[str, Any]:
        return {self.name: self.value, "batches": self.batches, "epoch": self.trainer.epoch}

    def merge(self, other: Any) -> None:
        self.value = max(self.value, other.value)


@pytest.fixture
def own_metric() -> Iterator[str]:
    METRICS.register_module(module_name="largest-in-a-test", module_cls=LargestLogit)
    yield "largest-in-a-test"
    METRICS.modules["default"].pop("largest-in-a-test")


@pytest.mark.parametrize("by", ["name", "path"])
def test_a_metric_of_the_users_own(by: str, own_metric: str, tmp_path: Path) -> None:
    kind = own_metric if by == "name" else f"{__name__}.LargestLogit"
    config = settings(evaluation__metrics=["seq-cls-metric", {"type": kind, "name": "top"}], **EVALUATE)
    trainer = build(tmp_path, config)
    trainer.train()
    rows = [json.loads(line) for line in next((tmp_path / "work").glob("*.json")).read_text().splitlines()]
    with torch.no_grad():
        top = float(all_logits(trainer.model).max())
    assert trainer.metric_values["top"] == pytest.approx(top)
    assert rows[-1]["evaluation/top"] == pytest.approx(top, abs=1e-5)
    assert (trainer.metric_values["batches"], trainer.metric_values["epoch"]) == (2, 0)
    assert "accuracy" in trainer.metric_values


class AsList(Dataset):
    def __len__(self) -> int:
        return 12

    def __getitem__(self, i: int) -> Any:
        return tuple(sample(i).values())


class AsTensor(AsList):
    def __getitem__(self, i: int) -> Any:
        return sample(i)["feat"]


class TensorNet(TinyNet):
    def forward(self, feat: Any) -> Any:
        return {"loss": self.head(torch.tanh(self.hidden(feat))).square().mean()}


class ListNet(TinyNet):
    def forward(self, batch: Any) -> Any:
        return super().forward(*batch)


class DictNet(TinyNet):
    def forward(self, inputs: Any) -> Any:
        return super().forward(**inputs)


def test_a_batch_may_be_a_dict_or_a_list(tmp_path: Path) -> None:
    usual = losses(tmp_path)
    assert losses(tmp_path, model=DictNet()) == usual
    assert losses(tmp_path, train_dataset=AsList()) == usual
    assert losses(tmp_path, train_dataset=AsList(), model=ListNet()) == usual


def test_a_batch_may_be_a_tensor(tmp_path: Path) -> None:
    with torch.no_grad():
        first = float(TensorNet()(torch.stack([AsTensor()[i] for i in range(4)]))["loss"])
    assert losses(tmp_path, train_dataset=AsTensor(), model=TensorNet())[0] == first


def test_an_output_without_names_is_refused(tmp_path: Path) -> None:
    class Bare(TinyNet):
        def forward(self, feat: Any, labels: Any) -> Any:
            return super().forward(feat, labels)["loss"]

    with pytest.raises(TypeError, match="forward must return a dict"):
        build(tmp_path, model=Bare()).train()


class Stream(IterableDataset):
    """Twelve samples in an order of its own."""

    def __init__(self) -> None:
        self.epochs: list[int] = []

    def set_epoch(self, epoch: int) -> None:
        self.epochs.append(epoch)

    def __iter__(self) -> Any:
        return (sample(i) for i in range(12))


class Drawing(Stream):
    set_epoch = None

    def __init__(self) -> None:
        self.generator, self.seeds = torch.Generator(), []

    def __iter__(self) -> Any:
        self.seeds.append(self.generator.initial_seed())
        return (sample(i) for i in torch.randperm(12, generator=self.generator).tolist())


def test_iterable_data_are_told_the_epoch(tmp_path: Path) -> None:
    data = Stream()
    build(tmp_path, train_dataset=data, max_epochs=3, train_iters_per_epoch=2).train()
    assert data.epochs == [0, 1, 2]


def test_a_generator_of_iterable_data_is_seeded_for_each_epoch(tmp_path: Path) -> None:
    data = Drawing()
    build(tmp_path, train_dataset=data, max_epochs=3, train_iters_per_epoch=2, seed=7).train()
    assert data.seeds == [7, 8, 9]
