"""The matrix of strategies and precisions on a machine with GPUs, as one table; takes two of them when it has them.

    python -m tests.gpu.check_gpu

A row says whether the losses are those of one process (within 1e-5, in 16 bits within 0.05), and of a wider network
the samples a second, the most memory that a process's tensors took, and how often an iteration waited for the device.
On one GPU each strategy runs with one process, and what needs two is left out. Without a GPU nothing is run.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from adapter import ConfigError, Hook
from tests.distributed.launches import run, torchrun
from tests.distributed.matrix import ROWS, Net, trainer_of
from tests.runs import make

PRECISIONS = {"32-true": 1e-5, "bf16-mixed": 0.05, "16-mixed": 0.05}  # and how far losses may be apart
HEADER = ("strategy", "precision", "equal", "largest difference", "samples/s", "peak MiB", "syncs/iteration")
ITERATIONS, WARM, BATCH = 40, 10, 64
WIDTHS = {"gpu": 2048, "cpu": 64}


class Wide(Net):
    """Wide layers before those that the matrix's plan splits; of width 2048 they have twelve million parameters."""

    def __init__(self, width: int) -> None:
        super().__init__()
        inner = [nn.Linear(width, width) for _ in range(3)]
        self.trunk = nn.Sequential(nn.Linear(4, width), *inner, nn.Linear(width, 4))

    def forward(self, x, label):
        return super().forward(self.trunk(x), label)


class Pace(Hook):
    """Notes when each iteration ended, and how often the host had waited for the device until then."""

    PRIORITY = "LOWEST"

    def __init__(self, waits: list[Any]) -> None:
        self.waits = waits
        self.seen: list[tuple[float, int]] = []

    def after_train_iter(self, trainer):
        if trainer.iter + 1 in (WARM, ITERATIONS):
            waited = len(self.waits)
            if torch.cuda.is_available():
                torch.cuda.synchronize()
            self.seen.append((time.perf_counter(), waited))


@contextlib.contextmanager
def counted_waits(device: str) -> Iterator[list[Any]]:
    """A list that grows whenever torch waits for a GPU."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.filterwarnings("always", "called a synchronizing CUDA operation")
        if device == "gpu":
            torch.cuda.reset_peak_memory_stats()
            torch.cuda.set_sync_debug_mode("warn")
        try:
            yield caught
        finally:
            if device == "gpu":
                torch.cuda.set_sync_debug_mode("default")


def play(folder: Path, row: Mapping[str, Any], precision: str, processes: int, device: str) -> dict[str, Any]:
    """What a row comes to: its losses, and the figures of a wider network."""
    keywords: dict[str, Any] = {"device": device, "trainer_args": {"precision": precision}}
    even, note = trainer_of(folder / "even", row, 1, processes, **keywords)
    even.train()
    shares = row.get("shares") or processes
    with counted_waits(device) as waits:
        pace = Pace(waits)
        loader = {"batch_size_per_gpu": BATCH, "workers_per_gpu": 0}
        train = {"dataloader": loader, "optimizer": {"type": "AdamW", "lr": 1e-4}}
        given = {**keywords, "model": Wide(WIDTHS[device]), "samples": shares * BATCH * ITERATIONS, "callbacks": [pace]}
        make(folder / "wide", row.get("hooks", []), 1, train, **given).train()
    (begin, before), (end, after) = pace.seen
    on_gpu = device == "gpu"
    return {
        "losses": note.losses,
        "pace": shares * BATCH * (ITERATIONS - WARM) / (end - begin),
        "peak": torch.cuda.max_memory_allocated() / 2**20 if on_gpu else None,
        "waits": (after - before) / (ITERATIONS - WARM) if on_gpu else None,
    }


def play_all(folder: Path, rows: Mapping[str, Any], processes: int, device: str) -> dict[str, dict[str, Any]]:
    """What each row comes to in each precision, by their names; of one that is refused, why."""
    found: dict[str, dict[str, Any]] = {}
    for name, row in rows.items():
        for precision in PRECISIONS:
            key = f"{name} {precision}"
            try:
                found[key] = play(folder / key, row, precision, processes, device)
            except ConfigError as error:
                found[key] = {"refused": error.problems[0].found}
    return found


def together(folder: Path, processes: int, device: str) -> dict[str, dict[str, Any]]:
    """What the rows of the matrix come to in processes that torchrun starts."""
    words = ("-m", "tests.gpu.check_gpu", "--device", device, "--worker", str(folder))
    devices = ",".join(map(str, range(processes))) if device == "gpu" else ""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", devices)
    ((status, text),) = run(torchrun(*words, processes=processes), CUDA_VISIBLE_DEVICES=visible)
    if status:
        sys.exit(text)
    found: dict[str, dict[str, Any]] = json.loads((folder / "found.json").read_text())
    return found


def cells(key: str, result: Mapping[str, Any], alone: Mapping[str, Any]) -> tuple[list[str], bool]:
    """A line of the table, and whether all is well with it."""
    precision = key.split()[1]
    if "refused" in result:
        return [*key.split(), "refused: " + result["refused"]], True
    pairs = zip(result["losses"], alone[f"single {precision}"]["losses"], strict=True)
    apart = max(abs(one - other) for one, other in pairs)
    figures = [result["pace"], result["peak"], result["waits"]]
    equal = apart <= PRECISIONS[precision]
    shown = ["-" if figure is None else f"{figure:.1f}" for figure in figures]
    return [*key.split(), "yes" if equal else "NO", f"{apart:.1e}", *shown], equal


def print_table(found: Mapping[str, Any], alone: Mapping[str, Any]) -> bool:
    """Print it; whether all is well."""
    lines = [cells(key, result, alone) for key, result in {**alone, **found}.items()]
    for line in (HEADER, *(line for line, _ in lines)):
        print("  ".join(cell.ljust(18) for cell in line).rstrip())
    return all(well for _, well in lines)


def main() -> int:
    """Print the table; status 1 when losses differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("gpu", "cpu"), default="gpu", help=argparse.SUPPRESS)  # cpu: try it out
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        found = play_all(given.worker, ROWS, int(os.environ["WORLD_SIZE"]), given.device)
        if os.environ["RANK"] == "0":
            (given.worker / "found.json").write_text(json.dumps(found))
        return 0
    if given.device == "gpu" and not torch.cuda.is_available():
        print("skipped: torch finds no GPU on this machine")
        return 0
    processes = min(2, torch.cuda.device_count()) if given.device == "gpu" else 2
    with tempfile.TemporaryDirectory() as folder:
        alone = play_all(Path(folder, "alone"), {"single": {}}, 1, given.device)
        found = together(Path(folder), processes, given.device)
    print(f"{processes} processes, {torch.cuda.get_device_name() if given.device == 'gpu' else 'CPU'}")
    return 0 if print_table(found, alone) else 1


if __name__ == "__main__":
    sys.exit(main())
