import csv
import json

import pytest
import torch
from torch.nn.functional import mse_loss

from adapter.cli.main import main
from adapter.errors import ConfigError
from adapter.models.mlp_regressor import MLPRegressor


def test_loss_only_with_the_true_numbers():
    model, truth = MLPRegressor(6, [5, 4], dropout=0.1).eval(), torch.tensor([1, 3])
    out = model(torch.ones(2, 6, dtype=torch.int64), truth)
    assert out["logits"].shape == (2, 1)
    assert torch.equal(out["loss"], mse_loss(out["logits"][:, 0], truth.float()))
    assert model(torch.ones(2, 6)).keys() == {"logits"}


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (ConfigError, lambda: MLPRegressor(6)(torch.ones(2, 5))),
        (ValueError, lambda: MLPRegressor(0)),
        (ValueError, lambda: MLPRegressor(6, [0])),
    ],
)
def test_refused(error, call):
    with pytest.raises(error, match="in_features"):
        call()


def test_numbers_are_learned_and_predicted_from_a_config_alone(tmp_path):
    rows = [(a / 8, b / 8, a / 4 - b / 8) for a in range(8) for b in range(8)]
    with open(tmp_path / "rows.csv", "w", newline="") as file:
        csv.writer(file).writerows([("x1", "x2", "y"), *rows])
    data = {"file": "rows.csv", "features": "x*", "label": "y"}
    config = {
        "task": "feature-regression",
        "model": {"type": "mlp-regressor", "in_features": 2, "hidden": 16},
        "dataset": {"train": data, "val": data},
        "train": {
            "max_epochs": 40,
            "work_dir": str(tmp_path / "run"),
            "dataloader": {"batch_size_per_gpu": 16},
            "optimizer": {"type": "AdamW", "lr": 0.02},
        },
        "evaluation": {"dataloader": {"batch_size_per_gpu": 64}, "period": {"interval": 40}},
    }
    path, pair, out = tmp_path / "config.json", tmp_path / "run" / "epoch_40", tmp_path / "out.jsonl"
    path.write_text(json.dumps(config))
    assert main(["fit", str(path)]) == 0
    assert json.loads((tmp_path / "run" / "output" / "eval_result.txt").read_text())["loss"] < 0.01
    assert main(["predict", str(path), "--ckpt", str(pair), "--out", str(out)]) == 0
    made = [json.loads(line)["score"] for line in out.read_text().splitlines()]
    assert made == pytest.approx([y for *_, y in rows], abs=0.4)
