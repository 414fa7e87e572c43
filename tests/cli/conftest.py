"""A small config that trains in a fraction of a second, its data, and changes to it."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

CONFIG: dict[str, Any] = {
    "task": "image-classification",
    "model": {"type": "mlp-classifier", "in_features": 4, "hidden": [8], "num_classes": 3},
    "dataset": {
        "train": {"type": "csv", "file": "data.csv", "features": "x*", "label": "label"},
        "val": {"type": "csv", "file": "data.csv", "features": "x*", "label": "label"},
    },
    "train": {
        "max_epochs": 2,
        "dataloader": {"batch_size_per_gpu": 4, "workers_per_gpu": 0},
        "optimizer": {"type": "SGD", "lr": 0.1},
        "lr_scheduler": {"type": "StepLR", "step_size": 1},
        "logging": {"interval": 1},
    },
    "evaluation": {
        "dataloader": {"batch_size_per_gpu": 4, "workers_per_gpu": 0},
        "metrics": ["accuracy"],
        "period": {"interval": 1},
    },
}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A config file, with data of 12 samples beside it."""
    rows = ["x0,x1,x2,x3,label", *(f"{i % 5},{i % 3},{i % 2},1,{i % 3}" for i in range(12))]
    (tmp_path / "data.csv").write_text("\n".join(rows))
    return write(tmp_path, {})


def write(folder: Path, changes: dict[str, Any]) -> Path:
    """The config with some dotted keys set, or taken out where the value is None."""
    config = copy.deepcopy(CONFIG)
    for dotted, value in changes.items():
        *parents, last = dotted.split(".")
        section = config
        for name in parents:
            section = section.setdefault(name, {})
        section[last] = value
        if value is None:
            del section[last]
    path = folder / "config.json"
    path.write_text(json.dumps(config, indent=2))
    return path


def log_of(work_dir: Path) -> list[dict[str, Any]]:
    (path,) = work_dir.glob("*.log.json")
    return [json.loads(line) for line in path.read_text().splitlines()]
