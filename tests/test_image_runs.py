"""Runs on images from a config alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from adapter import build_trainer
from adapter.cli.main import main
from adapter.errors import ConfigError
from tests.data.pictures import draw, listed
from tests.runs import iterations

ENDS = [
    {"type": "ToTensor"},
    {"type": "Normalize", "mean": [0.5] * 3, "std": [0.3] * 3},
    {"type": "Collect", "keys": ["img", "gt_labels"]},
]
LOADER = {"batch_size_per_gpu": 5, "workers_per_gpu": 0}


def config(folder: Path, workers: int = 0) -> dict[str, Any]:
    """Three colors to tell apart: six iterations an epoch, a pair after every fourth."""
    return {
        "task": "image-classification",
        "model": {"type": "torchvision", "name": "squeezenet1_1", "head": {"num_classes": 3}},
        "dataset": {split: {"type": "image-folder", "root": str(folder / "images")} for split in ("train", "val")},
        "preprocessor": {
            "train": [
                {"type": "RandomResizedCrop", "size": 20},
                {"type": "RandomHorizontalFlip"},
                {"type": "ColorJitter", "hue": 0.1},
                *ENDS,
            ],
            "val": [{"type": "Resize", "size": 22}, {"type": "CenterCrop", "size": 20}, *ENDS],
        },
        "train": {
            "max_epochs": 2,
            "dataloader": {**LOADER, "workers_per_gpu": workers, "shuffle": True},
            "optimizer": {"type": "AdamW", "lr": 1e-3},
            "hooks": [
                {"type": "CheckpointHook", "interval": 4, "by_epoch": False},
                {"type": "TextLoggerHook", "interval": 1},
                {"type": "EvaluationHook", "interval": 1},
            ],
        },
        "evaluation": {"dataloader": LOADER, "metrics": ["accuracy"]},
    }


def weights_of(config: dict[str, Any], folder: Path, checkpoint: Path | None = None) -> dict[str, torch.Tensor]:
    """The weights at the end of a run, from an ``iter_N`` checkpoint or from the start."""
    done = iterations()
    arguments = {"cfg_file": config, "work_dir": str(folder), "device": "cpu", "callbacks": [done]}
    trainer = build_trainer("trainer", arguments)
    trainer.train(checkpoint and str(checkpoint))
    assert done.seen[0] == (int(checkpoint.stem.removeprefix("iter_")) if checkpoint else 0)
    return trainer.model.state_dict()


@pytest.mark.parametrize("workers", [0, 2])
def test_random_transforms_go_on_where_a_run_stopped(tmp_path: Path, workers: int) -> None:
    draw(tmp_path / "images", each=10)
    settings = config(tmp_path, workers)
    whole = weights_of(settings, tmp_path / "whole")
    for place in (4, 8):  # amid the first and the second epoch
        rest = weights_of(settings, tmp_path / f"from_{place}", tmp_path / "whole" / f"iter_{place}.pth")
        assert all(rest[name].equal(value) for name, value in whole.items())
    settings["preprocessor"]["train"] = settings["preprocessor"]["val"]
    still = weights_of(settings, tmp_path / "still")
    assert not all(still[name].equal(value) for name, value in whole.items())


def test_fit_and_predict(tmp_path: Path) -> None:
    draw(tmp_path / "images", each=2)
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config(tmp_path)))
    words = [str(path), "--work-dir", str(tmp_path / "work")]
    assert main(["fit", *words, "--strict", "train.max_epochs=1"]) == 0
    weights = str(tmp_path / "work" / "output" / "pytorch_model.bin")
    assert main(["predict", *words, "--ckpt", weights, "--out", str(tmp_path / "out.jsonl")]) == 0
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [len(row["logits"]) for row in rows] == [3] * 6


def set_labels(settings: dict[str, Any], folder: Path) -> None:
    """A list of images whose class numbers go up to 5."""
    path = listed(folder / "images", {"blue": 0, "green": 1, "red": 5})
    settings["dataset"]["train"] = {"type": "image-list", "list_file": str(path)}


def set_no_folder(settings: dict[str, Any], folder: Path) -> None:
    settings["dataset"]["train"]["root"] = str(folder / "imges")


def set_unknown_transform(settings: dict[str, Any], folder: Path) -> None:
    settings["preprocessor"]["train"][1] = {"type": "RandomHorizontalFlp"}


def damage(settings: dict[str, Any], folder: Path) -> None:
    for path in (folder / "images").rglob("1.png"):
        path.write_text("no image")


@pytest.mark.parametrize(
    ("spoil", "workers", "told"),
    [
        (set_no_folder, 0, ["dataset.train.root", "no such folder", "Did you mean 'images'?"]),
        (set_unknown_transform, 0, ["preprocessor.train[1].type", "Did you mean 'RandomHorizontalFlip'?"]),
        (set_labels, 0, ["num_classes", "3, but the"]),
        (damage, 0, ["cannot read the image", "1.png", "skip_unreadable"]),
        (damage, 2, ["cannot read the image", "1.png", "skip_unreadable"]),
    ],
)
def test_bad_input(tmp_path: Path, spoil: Any, workers: int, told: list[str]) -> None:
    draw(tmp_path / "images", each=3)
    settings = config(tmp_path, workers)
    spoil(settings, tmp_path)
    with pytest.raises(ConfigError) as caught:
        weights_of(settings, tmp_path / "work")
    assert all(text in str(caught.value) for text in told)


def test_skipped_when_asked(tmp_path: Path) -> None:
    draw(tmp_path / "images", each=3)
    settings = config(tmp_path)
    damage(settings, tmp_path)
    for split in ("train", "val"):
        settings["dataset"][split]["skip_unreadable"] = True
    trainer = build_trainer("trainer", {"cfg_file": settings, "work_dir": str(tmp_path / "work"), "device": "cpu"})
    assert len(trainer.train_dataset) == 6
    trainer.train()
    assert trainer.iter == 4
