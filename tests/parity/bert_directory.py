"""Fine-tunes a small random BERT of a model directory, written against ModelScope's names alone.

    python bert_directory.py OUT_FOLDER                      # ModelScope's trainer
    python -m adapter run bert_directory.py OUT_FOLDER       # ours

Model, preprocessor and data sets are ModelScope's either way.
"""

import json
import sys
from pathlib import Path

import torch
from datasets import Dataset
from modelscope.metainfo import Trainers
from modelscope.msdatasets import MsDataset
from modelscope.trainers import build_trainer
from modelscope.trainers.hooks import Hook
from transformers import BertConfig, BertForSequenceClassification

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "the", "good", "fine", "bad", "dull", "film", "plot"]
LABELS = {"negative": 0, "positive": 1}
LOADER = {"batch_size_per_gpu": 2, "workers_per_gpu": 0}
CONFIG = {
    "framework": "pytorch",
    "task": "text-classification",
    "model": {"type": "bert"},
    "preprocessor": {"type": "sen-cls-tokenizer", "first_sequence": "sentence", "label": "label", "max_length": 8},
    "train": {
        "max_epochs": 2,
        "dataloader": {**LOADER, "shuffle": True},
        "optimizer": {"type": "AdamW", "lr": 0.01},
        "lr_scheduler": {"type": "StepLR", "step_size": 1, "gamma": 0.5},
    },
    "evaluation": {
        "dataloader": {**LOADER, "shuffle": False},
        "metrics": "seq-cls-metric",
        "period": {"interval": 1},
    },
}


def make_directory(folder):
    """Write a model directory with random weights."""
    folder.mkdir()
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    model = BertForSequenceClassification(BertConfig(vocab_size=len(WORDS), max_position_embeddings=16, **sizes))
    model.config.save_pretrained(folder)
    torch.save(model.state_dict(), folder / "pytorch_model.bin")
    (folder / "vocab.txt").write_text("\n".join(WORDS))
    for name, value in (("configuration.json", CONFIG), ("label_mapping.json", LABELS)):
        (folder / name).write_text(json.dumps(value))


def make_data(count):
    """Sentences of three words, whose second tells the label."""
    rows = [(word, noun) for noun in WORDS[11:] for word in WORDS[7:11]] * count
    samples = [{"sentence": f"the {w} {n}", "label": "positive" if w in WORDS[7:9] else "negative"} for w, n in rows]
    return MsDataset.to_ms_dataset(Dataset.from_list(samples))


class Watch(Hook):
    """Notes the losses."""

    PRIORITY = 100

    def __init__(self):
        self.losses = []

    def after_train_iter(self, trainer):
        """Note the loss of this iteration."""
        self.losses.append(trainer.train_outputs["loss"].item())


def train(name, out):
    """What can be seen of one run: losses, metrics, weights as float64, and the classes of what is built."""
    watch = Watch()
    arguments = {
        "model": str(out / "model"),
        "train_dataset": make_data(2),
        "eval_dataset": make_data(1),
        "work_dir": str(out / name),
        "seed": 7,
        "device": "cpu",
        "callbacks": [watch],
    }
    trainer = build_trainer(name, arguments)
    trainer.train()
    parts = (trainer.model, trainer.train_preprocessor, trainer.eval_preprocessor)
    return {
        "trainer": type(trainer).__module__.partition(".")[0],
        "parts": [f"{type(part).__module__}.{type(part).__name__}" for part in parts],
        "modes": [part.mode for part in parts[1:]],
        "losses": watch.losses,
        "metrics": trainer.metric_values,
        "weights": {key: value.double().sum().item() for key, value in trainer.model.state_dict().items()},
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    out = Path(sys.argv[1])
    make_directory(out / "model")
    seen = {name: train(name, out) for name in (Trainers.default, Trainers.nlp_base_trainer)}
    (out / "seen.json").write_text(json.dumps(seen))
