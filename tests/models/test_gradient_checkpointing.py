from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import Dataset

from adapter import ConfigError
from tests.small_runs import build, losses, same, settings, weights
from tests.tiny_models import small_transformer


class Blocks(nn.Module):
    """Counts how often its blocks compute."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.3), nn.Tanh()) for _ in range(2))
        self.head = nn.Linear(8, 3)
        self.computed = 0
        for layer in self.layers:
            layer[0].register_forward_hook(self.count)

    def count(self, *_: Any) -> None:
        self.computed += 1

    def forward(self, x: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        for layer in self.layers:
            x = layer(x)
        logits = self.head(x)
        return {"logits": logits, "loss": nn.functional.cross_entropy(logits, labels)}


class Samples(Dataset):
    """As many samples as are asked for."""

    def __init__(self, size: int, sample: Callable[[int], dict[str, Any]]) -> None:
        self.size, self.sample = size, sample

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, i: int) -> dict[str, Any]:
        return self.sample(i)


def numbers(i: int) -> dict[str, Any]:
    return {"x": torch.randn(8, generator=torch.Generator().manual_seed(i)), "labels": i % 3}


SETS = {"train_dataset": Samples(12, numbers), "eval_dataset": Samples(4, numbers)}


@pytest.mark.parametrize(
    ("given", "computed"),
    [
        (None, 6),
        (False, 6),
        ({"modules": ["layers.*"]}, 12),
        ({"modules": "layers.1"}, 9),
        ({"modules": ["layers.0", "layers.0.0"]}, 9),
    ],
)
def test_chosen_modules_compute_twice_and_the_numbers_stay(given: Any, computed: int, tmp_path: Path) -> None:
    config = settings(train__gradient_checkpointing=given)
    plain = build(tmp_path / "plain", model=Blocks(), **SETS)
    plain.train()
    trainer = build(tmp_path / "twice", config, model=Blocks(), **SETS)
    trainer.train()
    assert trainer.model.computed == computed
    assert same(weights(trainer), weights(plain))


def test_an_evaluation_computes_once(tmp_path: Path) -> None:
    trainer = build(tmp_path, settings(train__gradient_checkpointing={"modules": ["layers.*"]}), model=Blocks(), **SETS)
    trainer.evaluate()
    assert trainer.model.computed == 2


def tokens(i: int) -> dict[str, Any]:
    return {"input_ids": (torch.arange(6) + i) % 30, "labels": i % 3}


@pytest.mark.parametrize("tuners", [None, {"type": "lora", "target_modules": ["query"]}])
@pytest.mark.parametrize("given", [True, {"use_reentrant": True}])
@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing` is deprecated:FutureWarning")  # peft's reading of it
def test_a_model_of_transformers_chooses_itself(given: Any, tuners: Any, tmp_path: Path) -> None:
    sets = {"train_dataset": Samples(12, tokens), "eval_dataset": Samples(4, tokens)}
    changes = {"tuners": tuners} if tuners else {}
    plain = losses(tmp_path / "plain", settings(**changes), model=small_transformer(3), **sets)
    config = settings(train__gradient_checkpointing=given, **changes)
    assert losses(tmp_path / "twice", config, model=small_transformer(3), **sets) == plain
    model = build(tmp_path, config, model=small_transformer(3), **sets).model
    assert any(getattr(module, "gradient_checkpointing", False) for module in model.modules())


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (True, r"train\.gradient_checkpointing: Blocks does not say .*\s+fix: name them: .*layers\.0"),
        ({"modules": ["layer.*"]}, r"modules: no module of Blocks is called 'layer\.\*'.*Did you mean 'layers"),
        ({"modules": 3}, r"train\.gradient_checkpointing\.modules: found 3"),
        ("on", r"train\.gradient_checkpointing: found \"on\".*\s+fix: write true"),
    ],
)
def test_what_cannot_be_is_refused(given: Any, text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=text):
        build(tmp_path, settings(train__gradient_checkpointing=given), model=Blocks(), **SETS)
    assert not (tmp_path / "work").exists()
