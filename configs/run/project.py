"""What configs/run/digits.yaml names: images in a folder for each class, and a small convolutional network.

The configs in configs/images read the same images. They are made from the tables in configs/data when their folder is
not there; this file does so on its own, too:

    python configs/run/project.py work_dir/digit_images
"""

from __future__ import annotations

import csv
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch import nn
from torch.nn import functional

from adapter.runner import BaseDataset, BaseModel, BaseProcessor, layer_decay_groups, registry

TABLES = Path(__file__).parents[1] / "data"


def write_images(split: str, root: Path) -> None:
    """Write the table of a split as ``root/<digit>/<row>.png``: 8x8 gray pixels, 0 to 16 in the table, 0 to 255.

    The folder is there whole or not at all, also when several processes make it. ``<split>.txt`` beside it lists the
    images: a line is ``<digit>/<row>.png <digit>``.
    """
    root.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(dir=root.parent))
    lines = []
    with (TABLES / f"digits_{split}.csv").open(newline="") as table:
        for number, row in enumerate(csv.DictReader(table)):
            folder = aside / row["label"]
            folder.mkdir(exist_ok=True)
            pixels = bytes(min(int(float(value)) * 16, 255) for name, value in row.items() if name != "label")
            Image.frombytes("L", (8, 8), pixels).save(folder / f"{number:04}.png")
            lines.append(f"{row['label']}/{number:04}.png {row['label']}\n")
    root.with_suffix(".txt").write_text("".join(lines))
    try:
        aside.rename(root)
    except OSError:  # another process was first
        shutil.rmtree(aside)


@registry.register_dataset("digit_images")
class DigitImages(BaseDataset):
    """Images in a folder for each class.

    Args:
        transform: From a PIL image to a tensor.
        data_root: The folder of folders; its name is the split.
    """

    def __init__(self, transform: BaseProcessor, data_root: str) -> None:
        super().__init__(transform)
        root = Path(data_root)
        if not root.is_dir():
            write_images(root.name, root)
        self.classes = sorted(path.name for path in root.iterdir())
        self.images = sorted(root.glob("*/*.png"))

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        path = self.images[index]
        with Image.open(path) as image:
            return self.transform(image.convert("RGB")), self.classes.index(path.parent.name)

    def collator(self, batch: list[tuple[torch.Tensor, int]]) -> dict[str, torch.Tensor]:
        """``images`` (B, 3, H, W) float32 and ``labels`` (B,) int64."""
        images, labels = zip(*batch, strict=True)
        return {"images": torch.stack(images), "labels": torch.tensor(labels)}


@registry.register_model("small_conv")
class SmallConv(BaseModel):
    """Two convolutions and a linear layer.

    Args:
        num_classes: Number of scores.
        channels: Of the first convolution; the second has twice as many.
        head_scale: Factor of the last layer's learning rate.
    """

    def __init__(self, num_classes: int, channels: int = 16, head_scale: float = 1.0) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            [
                nn.Sequential(
                    nn.Conv2d(3, channels, 3, padding=1), nn.BatchNorm2d(channels), nn.ReLU(), nn.MaxPool2d(2)
                ),
                nn.Sequential(nn.Conv2d(channels, 2 * channels, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(4)),
                nn.Sequential(nn.Flatten(), nn.Linear(2 * channels * 16, num_classes)),
            ]
        )
        self.head_scale = head_scale

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Scores (B, num_classes) of images (B, 3, H, W)."""
        for layer in self.layers:
            images = layer(images)
        return images

    def train_step(self, samples: dict[str, torch.Tensor]) -> tuple[torch.Tensor, dict[str, Any]]:
        """Cross entropy of a batch."""
        loss = functional.cross_entropy(self(samples["images"]), samples["labels"])
        return loss, {"loss": loss.detach().clone()}

    def val_step(self, samples: dict[str, torch.Tensor]) -> Any:
        """``(loss, scores, label)`` of each sample."""
        scores = self(samples["images"])
        losses = functional.cross_entropy(scores, samples["labels"], reduction="none")
        return zip(losses.tolist(), scores.tolist(), samples["labels"].tolist(), strict=True)

    def get_optimizer_params(self, weight_decay: float, lr_scale: float = 1) -> list[dict[str, Any]]:
        """A rate for each layer; the last one's is ``head_scale`` times the schedule's."""
        count = len(self.layers)
        groups = layer_decay_groups(self, weight_decay, lr_scale, count, lambda name: int(name.split(".")[1]))
        for group in groups:
            group["lr_scale"] *= self.head_scale if group["lr_scale"] == 1 else 1
        return groups


if __name__ == "__main__":
    for name in ("train", "val"):
        write_images(name, Path(sys.argv[1], name))
