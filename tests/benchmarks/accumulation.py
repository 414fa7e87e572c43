"""Two processes, an MLP of 10 M parameters, accumulation over 8 iterations: this package and no_sync by hand, in turns.

    torchrun --nproc_per_node 2 tests/benchmarks/accumulation.py [ROUNDS]

Prints samples a second of both processes together, medians over the rounds, and their ratio.
"""

from __future__ import annotations

import contextlib
import statistics
import sys
import tempfile
import time
from typing import Any

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

from adapter import EpochBasedTrainer, Hook

ACCUMULATE, STEPS, WARM, BATCH, WIDTH = 8, 4, 8, 32, 1793  # three square layers: 9.6 M parameters, 10 M in all


class Rows(Dataset):
    """Random features and classes, the same on every process."""

    def __init__(self) -> None:
        generator = torch.Generator().manual_seed(1)
        size = 2 * BATCH * (WARM + ACCUMULATE * STEPS)
        self.x = torch.randn(size, 128, generator=generator)
        self.label = torch.randint(0, 10, (size,), generator=generator)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return {"x": self.x[i], "label": self.label[i]}


class Mlp(nn.Module):
    """forward(x: (B, 128), label: (B,)) -> {loss}"""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        hidden = [part for _ in range(3) for part in (nn.Linear(WIDTH, WIDTH), nn.ReLU())]
        self.layers = nn.Sequential(nn.Linear(128, WIDTH), nn.ReLU(), *hidden, nn.Linear(WIDTH, 10))

    def forward(self, x, label):
        return {"loss": nn.functional.cross_entropy(self.layers(x), label)}


class Clock(Hook):
    """When the warm iterations, and the last one, were over."""

    PRIORITY = "LOWEST"

    def __init__(self) -> None:
        self.times: list[float] = []

    def after_train_iter(self, trainer: Any) -> None:
        self.times.append(time.perf_counter())


def rate(times: list[float]) -> float:
    """Samples a second of both processes, after the warm iterations."""
    return 2 * BATCH * (len(times) - WARM) / (times[-1] - times[WARM - 1])


def ours(data: Dataset) -> float:
    """Train an epoch with the package."""
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        config = {
            "parallel": {"find_unused_parameters": False},
            "train": {
                "max_epochs": 1,
                "work_dir": folder,
                "dataloader": {"batch_size_per_gpu": BATCH, "workers_per_gpu": 0, "shuffle": False},
                "optimizer": {"type": "SGD", "lr": 0.01, "options": {"cumulative_iters": ACCUMULATE}},
                "checkpoint": {"period": {"save_strategy": "no"}},
            },
        }
        trainer = EpochBasedTrainer(model=Mlp(), cfg_file=config, train_dataset=data, callbacks=[clock], device="cpu")
        trainer.train()
    return rate(clock.times)


def by_hand(data: Dataset) -> float:
    """Train an epoch with a loop that shares the gradients at each step only."""
    model = DistributedDataParallel(Mlp())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    times: list[float] = []
    for number, batch in enumerate(DataLoader(data, BATCH, sampler=DistributedSampler(data, shuffle=False))):
        stepping = (number + 1) % ACCUMULATE == 0
        with contextlib.nullcontext() if stepping else model.no_sync():
            (model(**batch)["loss"] / ACCUMULATE).backward()
        if stepping:
            optimizer.step()
            optimizer.zero_grad()
        times.append(time.perf_counter())
    return rate(times)


def main(rounds: int) -> None:
    """Play rounds, in which both take turns to begin."""
    data = Rows()
    ours(data)
    found: dict[str, list[float]] = {"ours": [], "by_hand": []}
    for number in range(rounds):
        for contestant in (ours, by_hand) if number % 2 else (by_hand, ours):
            found[contestant.__name__].append(contestant(data))
    rates = {name: statistics.median(values) for name, values in found.items()}
    if torch.distributed.get_rank() == 0:
        print({name: [round(value, 1) for value in values] for name, values in found.items()})
        print(f"ours / by hand: {rates['ours'] / rates['by_hand']:.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
