"""Fine-tunes the model of a directory in three ways: a cfg_modify_fn, TrainingArgs, and Child-Tuning by a hook."""

import json
import os
import sys
from pathlib import Path

import torch
from datasets import Dataset
from modelscope.metainfo import Trainers
from modelscope.metrics import Metric
from modelscope.metrics.builder import METRICS, MetricKeys
from modelscope.models import MODELS
from modelscope.models.base import TorchModel
from modelscope.msdatasets import MsDataset
from modelscope.outputs import OutputKeys, TextClassificationModelOutput
from modelscope.preprocessors import PREPROCESSORS, Preprocessor
from modelscope.trainers import EpochBasedTrainer, NlpEpochBasedTrainer, TrainingArgs, build_trainer
from modelscope.trainers.hooks import Hook
from modelscope.trainers.hooks.priority import Priority
from modelscope.trainers.optimizer.child_tuning_adamw_optimizer import calculate_fisher
from modelscope.utils.constant import Fields, ModeKeys, ModelFile, Tasks
from modelscope.utils.hub import read_config
from torch import nn


@MODELS.register_module(Tasks.text_classification, module_name="letters")
class Letters(TorchModel):
    def __init__(self, model_dir, width=8, *args, **kwargs):
        super().__init__(model_dir, *args, **kwargs)
        self.layer = nn.Embedding(128, width)
        self.drop = nn.Dropout(0.2)
        self.head = nn.Linear(width, 2)

    def forward(self, input_ids, labels=None, **kwargs):
        logits = self.head(self.drop(torch.tanh(self.layer(input_ids)).mean(1)))
        return TextClassificationModelOutput(logits=logits, loss=nn.functional.cross_entropy(logits, labels))


@PREPROCESSORS.register_module(Fields.nlp, module_name="spell")
class Spell(Preprocessor):
    def __init__(self, model_dir=None, mode=ModeKeys.INFERENCE, first_sequence="text", label="label", **kwargs):
        super().__init__(mode)
        self.first_sequence, self.label = first_sequence, label

    def __call__(self, data):
        text = data[self.first_sequence].ljust(6)[:6]
        return {"input_ids": torch.tensor([ord(letter) for letter in text]), "labels": int(data[self.label])}


@METRICS.register_module(group_key="default", module_name="share-of-ones")
class ShareOfOnes(Metric):
    def __init__(self, *args, **kwargs):
        self.ones, self.count = 0, 0

    def add(self, outputs, inputs):
        predicted = outputs[OutputKeys.LOGITS].argmax(-1)
        self.ones += int(predicted.sum())
        self.count += len(predicted)

    def evaluate(self):
        return {MetricKeys.ACCURACY: self.ones / self.count}

    def merge(self, other):
        self.ones += other.ones
        self.count += other.count


class Watch(Hook):
    PRIORITY = Priority.LOWEST

    def __init__(self):
        self.seen = []

    def after_train_iter(self, trainer):
        self.seen.append([trainer.train_outputs["loss"].item(), trainer.optimizer.param_groups[0]["lr"]])


class CalculateFisherHook(Hook):
    @staticmethod
    def forward_step(model, inputs):
        inputs = {key: value.to(next(model.parameters()).device) for key, value in inputs.items()}
        trainer.train_step(model, inputs)
        return trainer.train_outputs["loss"]

    def before_run(self, trainer: NlpEpochBasedTrainer):
        mask = calculate_fisher(trainer.model, trainer.train_dataloader, self.forward_step, 0.2)
        trainer.optimizer.set_gradient_mask(mask)


def cfg_modify_fn(cfg):
    cfg.task = Tasks.text_classification
    cfg["preprocessor"] = {"type": "spell"}
    cfg["dataset"] = {"train": {"labels": ["0", "1"], "first_sequence": "sentence", "label": "label"}}
    cfg.train.optimizer.lr = 0.05
    cfg.train.max_epochs = 2
    cfg.train.lr_scheduler = {
        "type": "LinearLR",
        "start_factor": 1.0,
        "end_factor": 0.0,
        "total_iters": 6,
        "options": {"by_epoch": False},
    }
    cfg.train.hooks = [
        {"type": "CheckpointHook", "interval": 1},
        {"type": "TextLoggerHook", "interval": 1},
        {"type": "IterTimerHook"},
        {"type": "EvaluationHook", "by_epoch": False, "interval": 3},
    ]
    cfg.train.dataloader = {"batch_size_per_gpu": 4, "workers_per_gpu": 0}
    cfg.evaluation = {"dataloader": {"batch_size_per_gpu": 4, "workers_per_gpu": 0}, "metrics": ["share-of-ones"]}
    return cfg


def child_tuning(cfg):
    cfg = cfg_modify_fn(cfg)
    cfg.train.optimizer = {"type": "ChildTuningAdamW", "lr": 0.05, "reserve_p": 0.2, "mode": "ChildTuning-D"}
    return cfg


training_args = TrainingArgs(
    task=Tasks.text_classification,
    preprocessor_type="spell",
    first_sequence="sentence",
    label="label",
    labels="0,1",
    max_epochs=2,
    lr=0.05,
    optimizer="AdamW",
    optimizer_params="weight_decay=0.1",
    lr_scheduler="LinearLR",
    lr_scheduler_params="start_factor=1.0,end_factor=0.0,total_iters=6",
    lr_strategy="by_step",
    per_device_train_batch_size=4,
    per_device_eval_batch_size=4,
    logging_interval=1,
    eval_strategy="by_epoch",
    eval_metrics="share-of-ones",
    metric_for_best_model="accuracy",
)


way, out = sys.argv[1], Path(sys.argv[2])
model_dir = out / "model"
model_dir.mkdir()
config = {
    "framework": "pytorch",
    "task": "text-classification",
    "model": {"type": "letters", "width": 6},
    "train": {"optimizer": {"type": "AdamW", "lr": 0.1}, "work_dir": "elsewhere"},
    "pipeline": {"type": "text-classification"},
}
(model_dir / ModelFile.CONFIGURATION).write_text(json.dumps(config))
assert read_config(str(model_dir)).model.width == 6
torch.manual_seed(7)
torch.save(Letters(str(model_dir), 6).state_dict(), model_dir / ModelFile.TORCH_MODEL_BIN_FILE)
rows = [{"sentence": f"w{i * 7 % 13} {i * 5 % 11}", "label": i * 3 % 2} for i in range(12)]
train_dataset = MsDataset.to_ms_dataset(Dataset.from_list(rows))
eval_dataset = MsDataset.to_ms_dataset(Dataset.from_list(rows[:7]))

watch = Watch()
os.environ["LOCAL_RANK"] = "0"
kwargs = {
    "model": str(model_dir),
    "train_dataset": train_dataset,
    "eval_dataset": eval_dataset,
    "work_dir": str(out / "work"),
    "cfg_modify_fn": {"modify": cfg_modify_fn, "args": training_args, "child": child_tuning}[way],
    "callbacks": [watch],
    "device": "cpu",
}
trainer = build_trainer(name=Trainers.nlp_base_trainer, default_args=kwargs)
assert isinstance(trainer, EpochBasedTrainer)
if way == "child":
    trainer.register_hook(CalculateFisherHook())
trainer.train()
weights = {name: value.tolist() for name, value in trainer.model.state_dict().items()}
files = sorted(path.name for path in (out / "work" / ModelFile.TRAIN_OUTPUT_DIR).iterdir())
(out / "seen.json").write_text(
    json.dumps({"seen": watch.seen, "weights": weights, "metrics": trainer.metric_values, "files": files})
)
