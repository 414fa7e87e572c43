"""Contestant: a loop written by hand that does what the config asks for, and no more.

python hand.py WORKLOAD [SIZE]
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader
from workloads import FULL_SIZE, IterationClock, SaveMeter, Workload, make


def evaluate(model: nn.Module, loader: DataLoader) -> dict[str, float]:
    """Accuracy and macro F1 from a confusion count."""
    model.eval()
    predicted, labels = [], []
    with torch.no_grad():
        for batch in loader:
            predicted.append(model(**batch)["logits"].argmax(1))
            labels.append(batch["labels"])
    model.train()
    guess, truth = torch.cat(predicted), torch.cat(labels)
    classes = int(max(guess.max(), truth.max())) + 1
    counts = torch.bincount(truth * classes + guess, minlength=classes**2).reshape(classes, classes).double()
    hits = counts.diagonal()
    f1 = 2 * hits / (counts.sum(0) + counts.sum(1)).clamp(min=1)
    return {"accuracy": float(hits.sum() / counts.sum()), "macro-f1": float(f1.mean())}


def save(work_dir: str, epoch: int, model: nn.Module, optimizer: Any, scheduler: Any) -> None:
    """The .pth pair, and the newest weights linked into output/."""
    weights = f"{work_dir}/epoch_{epoch + 1}.pth"
    torch.save(model.state_dict(), weights)
    state = {
        "meta": {"epoch": epoch},
        "optimizer": optimizer.state_dict(),
        "lr_scheduler": scheduler.state_dict(),
    }
    torch.save(state, f"{work_dir}/epoch_{epoch + 1}_trainer_state.pth")
    os.makedirs(f"{work_dir}/output", exist_ok=True)
    link = f"{work_dir}/output/pytorch_model.bin"
    if os.path.exists(link):
        os.remove(link)
    os.link(weights, link)


def fit(load: Workload, work_dir: str, clock: IterationClock, meter: SaveMeter) -> None:
    """Train, log the average of each 10 iterations to a file, evaluate and save at each epoch's end."""
    train, model = load.config["train"], load.model
    batch = train["dataloader"]["batch_size_per_gpu"]
    loader = DataLoader(load.train, batch, shuffle=True)
    evaluation = DataLoader(load.evaluation, batch)
    options = {key: value for key, value in train["optimizer"].items() if key != "type"}
    optimizer = getattr(torch.optim, train["optimizer"]["type"])(model.parameters(), **options)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
    with open(f"{work_dir}/log.json", "w") as log:
        for epoch in range(train["max_epochs"]):
            clock.start_epoch()
            losses = []
            for i, sample in enumerate(loader):
                loss = model(**sample)["loss"]
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()
                losses.append(loss.detach())
                if (i + 1) % 10 == 0:
                    row = {"epoch": epoch + 1, "iter": i + 1, "lr": optimizer.param_groups[0]["lr"]}
                    print(json.dumps({**row, "loss": float(torch.stack(losses).mean())}), file=log, flush=True)
                    losses = []
                clock.tick()
            if "period" in load.config["evaluation"]:
                print(json.dumps(evaluate(model, evaluation)), file=log, flush=True)
            scheduler.step()
            meter.start()
            save(work_dir, epoch, model, optimizer, scheduler)
            meter.stop()


def main(name: str, size: int) -> dict[str, float]:
    """Times of one workload."""
    torch.set_num_threads(1)
    load, clock, meter = make(name, size), IterationClock(), SaveMeter()
    with tempfile.TemporaryDirectory() as work_dir:
        began = time.perf_counter()
        if name != "evaluate":
            fit(load, work_dir, clock, meter)
            total = {"fit_s": time.perf_counter() - began}
            return {**total, **(clock.result() if name == "fit" else meter.result())}
        loader = DataLoader(load.evaluation, load.config["evaluation"]["dataloader"]["batch_size_per_gpu"])
        evaluate(load.model, loader)
        began = time.perf_counter()
        evaluate(load.model, loader)
        return {"evaluate_s": time.perf_counter() - began}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else FULL_SIZE[sys.argv[1]])))
