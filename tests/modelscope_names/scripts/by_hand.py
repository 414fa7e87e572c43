"""Drives the loop itself, stage by stage."""

import json
import sys
from pathlib import Path

import torch
from modelscope.metainfo import Trainers
from modelscope.models.base import Model
from modelscope.trainers import build_trainer
from modelscope.utils.constant import LogKeys, ModelFile, TrainerStages
from modelscope.utils.test_utils import create_dummy_test_dataset
from torch import nn


class DummyModel(nn.Module, Model):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(5, 4)
        self.bn = nn.BatchNorm1d(4)

    def forward(self, feat, labels):
        logits = self.bn(self.linear(feat))
        return {"logits": logits, "loss": torch.sum(logits * torch.arange(4))}


torch.manual_seed(3)
out = Path(sys.argv[1])
cfg = {
    "task": "image_classification",
    "train": {
        "work_dir": str(out),
        "dataloader": {"batch_size_per_gpu": 2, "workers_per_gpu": 0},
        "optimizer": {"type": "SGD", "lr": 0.01, "options": {"grad_clip": {"max_norm": 2.0}}},
        "lr_scheduler": {"type": "MultiStepLR", "milestones": [2, 4]},
    },
}
config = out / ModelFile.CONFIGURATION
config.write_text(json.dumps(cfg))
trainer = build_trainer(
    Trainers.default,
    {
        "cfg_file": str(config),
        "model": DummyModel(),
        "data_collator": None,
        "train_dataset": create_dummy_test_dataset([0.1, 0.2, 0.3, 0.4, 0.5], [1], 10),
        "max_epochs": 5,
        "device": "cpu",
    },
)
loader = trainer._build_dataloader_with_dataset(trainer.train_dataset, **trainer.cfg.train.get("dataloader", {}))
trainer.register_optimizers_hook()
unwanted = ["CheckpointHook", "TextLoggerHook", "IterTimerHook"]
trainer._hooks = [hook for hook in trainer._hooks if hook.__class__.__name__ not in unwanted]
seen = []
trainer.invoke_hook(TrainerStages.before_run)
for _ in range(trainer._epoch, trainer._max_epochs):
    trainer.invoke_hook(TrainerStages.before_train_epoch)
    for batch in loader:
        trainer.invoke_hook(TrainerStages.before_train_iter)
        trainer.train_step(trainer.model, batch)
        trainer.invoke_hook(TrainerStages.after_train_iter)
        seen.append([trainer.iter, trainer.optimizer.param_groups[0][LogKeys.LR], trainer.train_outputs["loss"].item()])
        trainer._iter += 1
    trainer.invoke_hook(TrainerStages.after_train_epoch)
    trainer._epoch += 1
trainer.invoke_hook(TrainerStages.after_run)
weights = {name: value.tolist() for name, value in trainer.model.state_dict().items()}
(out / "seen.json").write_text(json.dumps({"seen": seen, "weights": weights}))
