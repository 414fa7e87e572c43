"""How near restored images come to the originals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from adapter.metrics.metric import Metric, as_tensor, column, wide
from adapter.registry import METRICS

WINDOW, SIGMA = 11, 1.5  # pixels
K1, K2 = 0.01, 0.03  # the constants of the SSIM paper


@METRICS.register_module(module_name="image-denoise-metric")
class ImageDenoiseMetric(Metric):
    """psnr, in decibels, and ssim: means over the images.

    Reads the outputs ``pred`` and ``target``, both (batch, channels, height, width); ``target`` may be an input
    instead. An image's values run to 255 when its target exceeds 1 somewhere, else to 1. ssim is ModelScope's: the
    window has three dimensions, the channels being one of them, which torchmetrics, whose borders mirror the
    image, cannot compute for three channels.
    """

    VALUES = ("psnr", "ssim")

    def __init__(self) -> None:
        self._sums: Tensor | None = None  # (2,): psnr, ssim
        self._total = 0

    def add(self, outputs: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
        """Add the batch's psnr and ssim, on their device.

        Raises:
            ValueError: The images are not two batches of one shape.
        """
        restored = as_tensor(column(outputs, ("pred",), "the model's output"))
        source = outputs if outputs.get("target") is not None else inputs
        target = as_tensor(column(source, ("target",), "the batch, like the model's output,"))
        if target.ndim != 4 or restored.shape != target.shape:
            found = f"{tuple(restored.shape)} and {tuple(target.shape)}"
            raise ValueError(f"image-denoise-metric takes images (batch, channels, height, width) twice; got {found}")
        restored, target = wide(restored), wide(target.to(restored.device))
        peak = torch.where(target.amax((1, 2, 3)) > 1, 255.0, 1.0).to(target.dtype)
        sums = torch.stack([psnr(restored, target, peak).sum(), ssim(restored, target, peak).sum()])
        self._sums = sums if self._sums is None else self._sums + sums
        self._total += len(target)

    def evaluate(self) -> dict[str, Any]:
        """The means; psnr is infinite when an image equals its target.

        Raises:
            ValueError: Nothing was added.
        """
        if self._sums is None:
            raise ValueError("image-denoise-metric has nothing to evaluate: no batch was added")
        psnr_sum, ssim_sum = self._sums.tolist()
        return {"psnr": psnr_sum / self._total, "ssim": ssim_sum / self._total}

    def merge(self, other: ImageDenoiseMetric) -> None:
        """Add the other's sums."""
        self._total += other._total
        if self._sums is None:
            self._sums = other._sums
        elif other._sums is not None:
            self._sums = self._sums + other._sums.to(self._sums.device)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_sums": None if self._sums is None else self._sums.cpu()}


def psnr(restored: Tensor, target: Tensor, peak: Tensor) -> Tensor:
    """Peak signal-to-noise ratio of each image, (batch,), in decibels; ``peak`` is (batch,), too."""
    return 10 * torch.log10(peak**2 / (restored - target).square().mean((1, 2, 3)))


def ssim(restored: Tensor, target: Tensor, peak: Tensor) -> Tensor:
    """Structural similarity of each image, (batch,), in a Gaussian window over channels, height and width."""
    maps = torch.stack([restored, target, restored**2, target**2, restored * target], dim=1).flatten(0, 1)
    mean_a, mean_b, square_a, square_b, product = _smooth(maps[:, None]).unflatten(0, (-1, 5)).unbind(1)
    c1, c2 = ((k * peak)[:, None, None, None, None] ** 2 for k in (K1, K2))
    variance_a, variance_b, covariance = square_a - mean_a**2, square_b - mean_b**2, product - mean_a * mean_b
    luminance = (2 * mean_a * mean_b + c1) / (mean_a**2 + mean_b**2 + c1)
    structure = (2 * covariance + c2) / (variance_a + variance_b + c2)
    return (luminance * structure).mean((1, 2, 3, 4))


def _smooth(maps: Tensor) -> Tensor:
    """A Gaussian blur of (n, 1, channels, height, width), the border repeated outward."""
    offsets = torch.arange(WINDOW, device=maps.device, dtype=maps.dtype) - WINDOW // 2
    weights = torch.exp(-(offsets**2) / (2 * SIGMA**2))
    weights = weights / weights.sum()
    maps = F.pad(maps, (WINDOW // 2,) * 6, mode="replicate")
    for shape in ((WINDOW, 1, 1), (1, WINDOW, 1), (1, 1, WINDOW)):
        maps = F.conv3d(maps, weights.reshape(1, 1, *shape))
    return maps
