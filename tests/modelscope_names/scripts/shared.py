"""Trains in several processes that a launcher has started, and notes what each of them sees."""

import json
import os
import sys
from pathlib import Path

import torch
from modelscope.msdatasets import MsDataset
from modelscope.trainers import build_trainer
from modelscope.trainers.hooks import Hook
from modelscope.trainers.hooks.priority import Priority
from modelscope.utils.constant import ModelFile, Tasks
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.2), nn.Linear(8, 2))

    def forward(self, features, labels):
        logits = self.layers(features)
        return {"logits": logits, "loss": nn.functional.cross_entropy(logits, labels)}


class Watch(Hook):
    PRIORITY = Priority.LOWEST

    def __init__(self):
        self.seen = []

    def after_train_iter(self, trainer):
        self.seen.append([trainer.train_outputs["loss"].item(), trainer.optimizer.param_groups[0]["lr"]])


def samples(count):
    generator = torch.Generator().manual_seed(count)
    features = torch.randn(count, 4, generator=generator)
    return MsDataset.load([{"features": row, "labels": int(row.sum() > 0)} for row in features])


out = Path(sys.argv[-1])
out.mkdir(parents=True, exist_ok=True)
loader = {"batch_size_per_gpu": 2, "workers_per_gpu": 0}
config = {
    "framework": "pytorch",
    "task": Tasks.text_classification,
    "train": {
        "work_dir": str(out / "work"),
        "max_epochs": 2,
        "dataloader": loader,
        "optimizer": {"type": "SGD", "lr": 0.1},
        "lr_scheduler": {"type": "StepLR", "step_size": 1},
        "hooks": [
            {"type": "CheckpointHook", "interval": 1},
            {"type": "TextLoggerHook", "interval": 1},
            {"type": "EvaluationHook", "interval": 1},
        ],
    },
    "evaluation": {"dataloader": loader, "metrics": "accuracy"},
}
rank = int(os.environ["RANK"])
path = out / f"{rank}-{ModelFile.CONFIGURATION}"
path.write_text(json.dumps(config))
torch.manual_seed(0)
watch = Watch()
trainer = build_trainer(
    default_args={
        "model": Model(),
        "cfg_file": str(path),
        "train_dataset": samples(22),
        "eval_dataset": samples(7),
        "launcher": "pytorch",
        "device": "cpu",
        "callbacks": [watch],
        "seed": 3,
    }
)
trainer.train()
weights = [value.tolist() for value in trainer.model.state_dict().values()]
told = {"seen": watch.seen, "weights": weights, "values": trainer.metric_values, "hooks": trainer.get_hook_info()}
(out / f"{rank}.json").write_text(json.dumps(told))
