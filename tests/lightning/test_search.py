"""Lightning's Tuner finds a rate and a batch size; the run after it is the one whose config had them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import lightning as L
import pytest
import torch
from lightning.pytorch.tuner import Tuner
from torch import nn
from torch.utils.data import DataLoader, RandomSampler

from adapter import ConfigError
from adapter.lightning import search
from adapter.lightning.quiet import quiet
from tests.parity.golden.cases import MapData, TinyNet
from tests.small_runs import Losses, build, same, settings, weights

RATES = {"min_lr": 1e-4, "max_lr": 0.5, "num_training": 30}
SIZES = {"mode": "power", "init_val": 1, "steps_per_trial": 2}
OPTIONS = {"cumulative_iters": 2, "grad_clip": {"max_norm": 0.5}}
STEPS = {"train__max_epochs": None, "train__num_steps": 3}
GROUPS = [{"regex": "bias", "lr": 0.2}]


class Noisy(TinyNet):
    """A net with what a search could leave behind: drawn numbers, and averages that are not saved."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(8)
        self.register_buffer("steps", torch.zeros(()), persistent=False)

    def forward(self, feat: torch.Tensor, labels: torch.Tensor) -> Any:
        self.steps += 1
        return super().forward(nn.functional.dropout(self.norm(feat), 0.2), labels)


class Greedy(TinyNet):
    """A net that has no memory for more than six samples."""

    def forward(self, feat: torch.Tensor, labels: torch.Tensor) -> Any:
        if len(feat) > 6:
            raise RuntimeError("CUDA out of memory.")
        return super().forward(feat, labels)


class Lost(TinyNet):
    """A net whose losses are no numbers."""

    def forward(self, feat: torch.Tensor, labels: torch.Tensor) -> Any:
        outputs = super().forward(feat, labels)
        return {**outputs, "loss": outputs["loss"] * float("nan")}


def run(folder: Path, config: dict[str, Any], model: nn.Module, **keywords: Any) -> tuple[Any, list[float]]:
    """A trained trainer, with the losses it saw."""
    torch.manual_seed(3)
    note = Losses()
    checkpoint = keywords.pop("checkpoint", None)
    trainer = build(folder, config, model=model, callbacks=[note], **keywords)
    trainer.train(checkpoint)
    return trainer, note.seen


def saved(trainer: Any) -> dict[str, Any]:
    return json.loads(Path(trainer.work_dir, "output", "configuration.json").read_text())["train"]


@pytest.mark.parametrize(
    ("asked", "changes"),
    [
        ({"train__lr_find": RATES}, {"train__optimizer__options": OPTIONS}),
        ({"train__lr_find": True}, {"train__optimizer__param_groups": GROUPS}),
        (
            {"train__scale_batch_size": SIZES, "train__lr_find": RATES},
            {"train__max_epochs": None, "train__num_steps": 3},
        ),
    ],
)
def test_the_run_after_it_is_the_one_whose_config_had_what_was_found(asked: Any, changes: Any, tmp_path: Path) -> None:
    shuffled = {**changes, "train__dataloader__shuffle": True, "train__max_epochs": changes.get("train__max_epochs", 2)}
    trainer, seen = run(tmp_path / "found", settings(**shuffled, **asked), Noisy())
    config = settings(**shuffled)
    for key, value in trainer.found.items():
        *path, name = key.split(".")
        section = config
        for step in path:
            section = section[step]
        section[name] = value
    ratio = trainer.found["train.optimizer.lr"] / 0.1
    for group in config["train"]["optimizer"].get("param_groups", []):
        group["lr"] *= ratio
    other, expected = run(tmp_path / "given", config, Noisy())
    assert len(seen) == len(set(seen)) == len(expected)
    assert seen == expected
    assert same(weights(trainer), weights(other))
    assert trainer.model.steps == other.model.steps
    assert trainer.optimizer.state_dict()["param_groups"] == other.optimizer.state_dict()["param_groups"]
    here, there = saved(trainer), saved(other)
    assert (here["optimizer"], here["dataloader"]) == (there["optimizer"], there["dataloader"])
    assert not here.keys() & {"lr_find", "scale_batch_size"}


class ByHand(L.LightningModule):
    """The same steps, as one writes them for Lightning."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.net, self.lr = TinyNet(), 0.1

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        return self.net(**batch)["loss"]

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=self.lr, momentum=0.9)

    def train_dataloader(self) -> Any:
        return DataLoader(MapData(12), batch_size=4)


def test_the_rate_is_the_one_that_lightning_finds_for_the_same_steps(tmp_path: Path) -> None:
    torch.manual_seed(3)
    config = settings(train__lr_find=RATES, train__optimizer__options=OPTIONS)
    trainer = build(tmp_path, config, model=TinyNet())
    trainer.train()
    with quiet():
        arguments = {"accelerator": "cpu", "logger": False, "enable_checkpointing": False, "max_epochs": -1}
        plain = L.Trainer(
            **arguments,
            accumulate_grad_batches=2,
            gradient_clip_val=0.5,
            enable_progress_bar=False,
            enable_model_summary=False,
            default_root_dir=tmp_path,
        )
        finder = Tuner(plain).lr_find(ByHand(), **RATES)
    assert finder is not None
    assert trainer.found == {"train.optimizer.lr": finder.suggestion()}


@pytest.mark.parametrize(
    ("asked", "found"),
    [("power", 4), ({"mode": "binsearch", "init_val": 1}, 5)],  # binsearch leaves one of twenty free
)
def test_a_batch_size_is_what_memory_allows(asked: Any, found: int, tmp_path: Path) -> None:
    trainer, _ = run(tmp_path, settings(train__scale_batch_size=asked), Greedy())
    assert trainer.found == {"train.dataloader.batch_size_per_gpu": found}
    assert trainer.train_dataloader.batch_size == found


def test_a_sampler_draws_as_if_nothing_had_been_searched_for(tmp_path: Path) -> None:
    """From a generator of its own, whose state is not among torch's."""
    rate, losses = None, []
    for folder in ("found", "given"):
        config = settings(**({"train__lr_find": RATES} if rate is None else {"train__optimizer__lr": rate}))
        sampler = RandomSampler(range(12), generator=torch.Generator().manual_seed(5))
        trainer, seen = run(tmp_path / folder, config, Noisy(), samplers={"train": sampler})
        rate = rate or trainer.found["train.optimizer.lr"]
        losses.append(seen)
    assert losses[0] == losses[1]


def test_a_run_that_goes_on_has_what_was_found_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"train__lr_find": RATES, "train__scale_batch_size": SIZES, "train__dataloader__shuffle": True}
    whole, _ = run(tmp_path / "whole", settings(train__max_epochs=2, **asked), Noisy())
    run(tmp_path / "half", settings(train__max_epochs=1, **asked), Noisy())
    monkeypatch.setattr(search, "search", None)  # it cannot be called again
    pair = str(tmp_path / "half" / "work" / "epoch_1.pth")
    on, _ = run(tmp_path / "on", settings(train__max_epochs=2, **asked), Noisy(), checkpoint=pair)
    assert on.found == whole.found
    assert same(weights(on), weights(whole))


@pytest.mark.parametrize("weights_alone", [True, False])
def test_a_run_that_begins_with_weights_searches_with_them(weights_alone: bool, tmp_path: Path) -> None:
    """Whether they are all there is, or all that is wanted of a pair."""
    run(tmp_path / "first", settings(train__max_epochs=1, train__optimizer__lr=0.5), Noisy())
    pair = tmp_path / "first" / "work" / "epoch_1.pth"
    known = torch.load(pair, weights_only=True)
    model = Noisy()
    model.load_state_dict(known)
    torch.save(known, tmp_path / "known.bin")
    expected, losses = run(tmp_path / "given", settings(train__lr_find=RATES), model)
    torch.manual_seed(3)
    note = Losses()
    trainer = build(tmp_path / "loaded", settings(train__lr_find=RATES), model=Noisy(), callbacks=[note])
    if weights_alone:
        trainer.train(str(tmp_path / "known.bin"))
    else:
        trainer.train(str(pair), load_all_state=False)
    assert trainer.found == expected.found != {}
    assert note.seen == losses


def test_a_run_of_a_few_iterations_searches_for_nothing(tmp_path: Path) -> None:
    trainer, seen = run(tmp_path, settings(train__lr_find=True, train__fast_dev_run=2), TinyNet())
    assert (trainer.found, len(seen)) == ({}, 2)
    log = next((tmp_path / "work").glob("*.log")).read_text()
    assert "train.lr_find: nothing is searched for in a fast_dev_run" in log


@pytest.mark.parametrize(
    ("changes", "keywords", "text"),
    [
        ({"train__lr_find": {"num_training": 5}}, {}, r"train\.lr_find\.num_training: found 5"),
        (
            {"train__lr_find": {"max_lr": 1e-9}},
            {},
            r"train\.lr_find: from 1e-08 to 1e-09; allowed: 0 < min_lr",
        ),
        ({"train__lr_find": {"min_lr": None}}, {}, r"train\.lr_find\.min_lr: found null"),
        ({"train__lr_find": {"max_lr": "high"}}, {}, r"train\.lr_find\.max_lr: found \"high\""),
        (
            {"train__lr_find": True, "train__optimizer__param_groups": 3},
            {},
            r"train\.optimizer\.param_groups: found 3",
        ),
        ({"train__scale_batch_size": "double"}, {}, r"train\.scale_batch_size: found \"double\".*power, binsearch"),
        ({"train__lr_find": True, "train__optimizer_hook": {"type": "NoneOptimizerHook"}}, {}, r"code of yours"),
        ({"train__lr_find": True}, {"trainer_args": {"devices": 2}}, r"train\.lr_find: .*by one process"),
        (
            {"train__scale_batch_size": True},
            {"optimizers": "one"},
            r"train\.scale_batch_size: the optimizer is made in",
        ),
        (
            {"train__lr_find": True, "train__optimizer": {"type": "Adam", "param_groups": GROUPS}},
            {},
            r"train\.lr_find: groups have rates of their own",
        ),
    ],
)
def test_what_cannot_be_searched_for_is_refused(changes: Any, keywords: Any, text: str, tmp_path: Path) -> None:
    if keywords.get("optimizers"):
        model = TinyNet()
        keywords = {"model": model, "optimizers": (torch.optim.SGD(model.parameters(), lr=0.1), None)}
    with pytest.raises(ConfigError, match=text):
        build(tmp_path, settings(**changes), **keywords)
    assert not (tmp_path / "work").exists()


def test_losses_that_tell_nothing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"train\.lr_find: too few of the losses are numbers"):
        run(tmp_path, settings(train__lr_find=RATES), Lost())
