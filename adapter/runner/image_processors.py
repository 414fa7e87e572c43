"""Processors of images, from a PIL image to a normalized tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adapter.data.image_transforms import torchvision_module
from adapter.runner.base_processor import BaseProcessor
from adapter.runner.registration import registry

MEAN = (0.48145466, 0.4578275, 0.40821073)  # of the images CLIP was trained on, red, green, blue
STD = (0.26862954, 0.26130258, 0.27577711)


@registry.register_processor("image_train_processor")
class ImageTrainProcessor(BaseProcessor):
    """A random part of the image, flipped at random, as a (3, image_size, image_size) float32 tensor.

    Args:
        image_size: Height and width, in pixels.
        mean: Of each color, 0 to 1; subtracted.
        std: Of each color; divided by.
        min_scale: Smallest part of the area that is taken, 0 to 1.
        max_scale: Largest.
        flip: Probability of a horizontal flip.
    """

    def __init__(
        self,
        image_size: int = 224,
        mean: Sequence[float] = MEAN,
        std: Sequence[float] = STD,
        min_scale: float = 0.5,
        max_scale: float = 1.0,
        flip: float = 0.5,
    ) -> None:
        v1 = _torchvision_transforms()
        cubic = v1.InterpolationMode.BICUBIC
        part = v1.RandomResizedCrop(image_size, scale=(min_scale, max_scale), interpolation=cubic)
        self.transform = _composed(part, v1.RandomHorizontalFlip(flip), *_to_tensor(mean, std))


@registry.register_processor("image_eval_processor")
class ImageEvalProcessor(BaseProcessor):
    """The whole image, resized, as a (3, image_size, image_size) float32 tensor.

    Args:
        image_size: Height and width, in pixels.
        mean: Of each color, 0 to 1; subtracted.
        std: Of each color; divided by.
    """

    def __init__(self, image_size: int = 224, mean: Sequence[float] = MEAN, std: Sequence[float] = STD) -> None:
        v1 = _torchvision_transforms()
        resize = v1.Resize((image_size, image_size), interpolation=v1.InterpolationMode.BICUBIC)
        self.transform = _composed(resize, *_to_tensor(mean, std))


def _to_tensor(mean: Sequence[float], std: Sequence[float]) -> tuple[Callable[[Any], Any], ...]:
    v1 = _torchvision_transforms()
    return v1.Lambda(_as_rgb), v1.ToTensor(), v1.Normalize(tuple(mean), tuple(std))


def _as_rgb(image: Any) -> Any:
    return image.convert("RGB")


def _composed(*steps: Callable[[Any], Any]) -> Callable[[Any], Any]:
    composed: Callable[[Any], Any] = _torchvision_transforms().Compose(list(steps))
    return composed


def _torchvision_transforms() -> Any:
    return torchvision_module("torchvision.transforms", "dataset")
