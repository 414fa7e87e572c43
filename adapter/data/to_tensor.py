"""ToTensor: from an image to numbers between 0 and 1."""

from __future__ import annotations

from typing import Any

import torch

from adapter.data.image_transforms import TRANSFORMS, torchvision_module
from adapter.registry import PREPROCESSORS


@PREPROCESSORS.register_module()
class ToTensor:
    """Turns the image of a sample into a float32 tensor (channels, height, width) from 0 to 1."""

    def __init__(self) -> None:
        v2 = torchvision_module(TRANSFORMS, "preprocessor")
        self.steps = v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True)])

    def __call__(self, sample: Any) -> Any:
        """The sample with its image as a tensor."""
        return self.steps(sample)
