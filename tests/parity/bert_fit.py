"""Fine-tunes the model directory of bert_directory.py by `adapter fit` alone, named in each way a config can name it.

    python bert_fit.py OUT_FOLDER

Then the folder that was written is used: by ModelScope's pipeline, and by `adapter predict`.
"""

import csv
import json
import os
import shutil
import sys
from pathlib import Path

import torch
from bert_directory import CONFIG, make_data, make_directory

from adapter.cli.main import main

COLUMNS = {"first_sequence": "sentence", "label": "label"}
MODELS = {
    "text": "../model",
    "path": {"path": "../model"},
    "type": {"type": "bert", "model_dir": "../model"},
}
HOOK = """
import json
import os

from adapter import HOOKS, Hook


@HOOKS.register_module()
class Watch(Hook):
    PRIORITY = 100

    def before_run(self, trainer):
        self.losses = []

    def after_train_iter(self, trainer):
        self.losses.append(trainer.train_outputs["loss"].item())

    def after_run(self, trainer):
        parts = (trainer.model, trainer.train_preprocessor, trainer.eval_preprocessor)
        seen = {
            "parts": [f"{type(part).__module__}.{type(part).__name__}" for part in parts],
            "modes": [part.mode for part in parts[1:]],
            "losses": self.losses,
            "metrics": trainer.metric_values,
            "weights": {key: value.double().sum().item() for key, value in trainer.model.state_dict().items()},
        }
        with open(os.path.join(trainer.work_dir, "seen.json"), "w") as file:
            json.dump(seen, file)
"""


def write_rows(path, data):
    """Write samples as a csv file."""
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, ["sentence", "label"])
        writer.writeheader()
        writer.writerows({name: data[i][name] for name in writer.fieldnames} for i in range(len(data)))


def lay_out(out):
    """Write the directory, data, a hook that notes what is seen, and configs; returns those by name."""
    make_directory(out / "model")
    for mode, count in (("train", 2), ("val", 1)):
        write_rows(out / f"{mode}.csv", make_data(count))
    (out / "watch.py").write_text(HOOK)
    (out / "configs").mkdir()
    data = {mode: {"file": f"../{mode}.csv", **COLUMNS} for mode in ("train", "val")}
    train = {**CONFIG["train"], "hooks": [{"type": "Watch"}]}
    whole = {**CONFIG, "dataset": data, "train": train}
    (out / "model" / "configuration.json").write_text(json.dumps(whole))
    configs = {"file": out / "model" / "configuration.json", "folder": out / "model"}
    rest = {name: value for name, value in whole.items() if name not in ("task", "model", "preprocessor")}
    for name, model in MODELS.items():
        configs[name] = out / "configs" / f"{name}.json"
        configs[name].write_text(json.dumps({**rest, "model": model}))
    (out / "rows").mkdir()
    for mode in ("train", "val"):
        shutil.copy(out / f"{mode}.csv", out / "rows")
    named = {"train": {"name": "../rows", "split": "train", "hub": "modelscope", **COLUMNS}}
    named["val"] = {**named["train"], "split": "validation"}
    configs["named"] = out / "configs" / "named.json"
    configs["named"].write_text(json.dumps({**rest, "model": "../model", "dataset": named}))
    return configs


def adapter(*words):
    """Run a command of the adapter."""
    status = main([*map(str, words), "--import", str(out / "watch.py"), "--trainer.accelerator=cpu"])
    assert status == 0, words


def fit(config, work_dir):
    """Train; what the hook has seen."""
    adapter("fit", config, "--seed", "7", "--work-dir", work_dir)
    return json.loads((work_dir / "seen.json").read_text())


def use(output):
    """What becomes of the output folder in ModelScope's pipeline and in `adapter predict`: scores of each sentence."""
    from modelscope.pipelines import pipeline

    sentences = [make_data(1)[i]["sentence"] for i in range(8)]
    classify = pipeline("text-classification", str(output), device="cpu")
    theirs = [dict(zip(found["labels"], found["scores"], strict=True)) for found in map(classify, sentences)]
    lines, weights = output / "lines.jsonl", output / "pytorch_model.bin"
    unlabeled = output / "new.csv"
    unlabeled.write_text("\n".join(["sentence", *sentences]))
    adapter("predict", output, "--ckpt", weights, "--out", lines, f"dataset.val.file={unlabeled}")
    return {"theirs": theirs, "ours": [json.loads(line) for line in lines.read_text().splitlines()]}


if __name__ == "__main__":
    torch.set_num_threads(1)
    out = Path(sys.argv[1])
    seen = {name: fit(config, out / name) for name, config in lay_out(out).items()}
    seen["files"] = sorted(os.listdir(out / "path" / "output"))
    seen["model"] = json.loads((out / "path" / "output" / "configuration.json").read_text())["model"]
    (out / "model").rename(out / "gone")  # what was written is enough
    seen["use"] = use(out / "path" / "output")
    (out / "seen.json").write_text(json.dumps(seen))
