"""Classifiers of torchvision, by name."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from torch import Tensor, nn

from adapter.checkpoint import files
from adapter.data.image_transforms import torchvision_module
from adapter.errors import ConfigError, MissingEntryError, Problem, nearest, reason_of
from adapter.models.class_loss import build_loss, loss_of
from adapter.registry import MODELS

AUXILIARY = 0.3  # share of the loss of GoogLeNet's and Inception's further classifiers, while they train


@MODELS.register_module(module_name="torchvision")
class TorchvisionModel(nn.Module):
    """A classifier of torchvision that gives its loss, too.

    Args:
        name: Name of the model, such as ``resnet18``; those of ``torchvision.models.list_models(torchvision.models)``.
        num_classes: Classes to tell apart; the head's by default.
        head: ``{num_classes, loss, label_smoothing}``; the loss is a name or ``{type, **arguments}``, cross entropy by
            default.
        weights: Where to start from: a file of a ``state_dict``, or a name such as ``DEFAULT`` of weights that
            torchvision downloads. Layers of another shape, as the last one for other classes, stay as they are. Random
            by default.
        num_labels: Labels of the data, when they are known; the classes, where neither ``num_classes`` nor the head
            says how many.
        base_dir: Folder that a relative ``weights`` starts from; the current one by default.
        arguments: For the model's own constructor, such as ``dropout``.

    Attributes:
        net: torchvision's model.
        num_classes: Classes to tell apart.

    Raises:
        ConfigError: An unknown model, loss or weights, fewer classes than labels, or arguments that are refused.
    """

    def __init__(
        self,
        name: str,
        num_classes: int | None = None,
        head: Mapping[str, Any] | None = None,
        weights: str | None = None,
        num_labels: int | None = None,
        base_dir: str | Path | None = None,
        **arguments: Any,
    ) -> None:
        super().__init__()
        models = torchvision_module("torchvision.models", "model.type")
        known = models.list_models(module=models)
        if name not in known:
            found = f"torchvision has no classifier '{name}'"
            raise ConfigError(Problem("model.name", found, ", ".join(known), nearest(name, known), kind="name"))
        self.num_classes = _count_classes(num_classes, head or {}, num_labels)
        self.loss = build_loss(head or {})
        self.net: nn.Module = models.get_model(name, weights=None, num_classes=self.num_classes, **arguments)
        if weights:
            take_weights(self.net, _read_weights(models, name, weights, base_dir), weights)

    def forward(
        self,
        image: Tensor | None = None,
        label: Tensor | None = None,
        img: Tensor | None = None,
        gt_labels: Tensor | None = None,
    ) -> dict[str, Tensor]:
        """Scores of each class, and the loss when labels are given.

        Args:
            image: (batch, 3, height, width).
            label: (batch,), class numbers from 0.
            img: Other name of ``image``.
            gt_labels: Other name of ``label``.

        Returns:
            ``logits``: (batch, num_classes); ``loss``: a scalar, with labels only.

        Raises:
            ConfigError: There is no image, or the labels are no numbers of classes.
        """
        pixels, truth = img if image is None else image, gt_labels if label is None else label
        if pixels is None:
            raise MissingEntryError(Problem("dataset", "a batch has neither image nor img", kind="missing"))
        outputs = self.net(pixels)
        logits, *others = outputs if isinstance(outputs, tuple) else (outputs,)
        if truth is None:
            return {"logits": logits}
        loss = loss_of(self.loss, logits, truth)
        for other in others:
            if other is not None:
                loss = loss + AUXILIARY * loss_of(self.loss, other, truth)
        return {"logits": logits, "loss": loss}


def take_weights(net: nn.Module, weights: Mapping[str, Any], source: str) -> None:
    """Put weights into a model where names and shapes fit, and log what does not.

    Raises:
        ConfigError: Nothing fits.
    """
    own = net.state_dict()
    fitting = {name: value for name, value in weights.items() if name in own and own[name].shape == value.shape}
    if not fitting:
        found = f"{source} has none of the model's {len(own)} weights"
        raise ConfigError(Problem("model.weights", found, fix="name weights of the same model", kind="file"))
    net.load_state_dict(fitting, strict=False)
    logger = logging.getLogger("adapter")
    left = {
        "have another shape there and stay random": [name for name in own if name in weights and name not in fitting],
        "are not there and stay random": [name for name in own if name not in weights],
        "are there, but not in the model": [name for name in weights if name not in own],
    }
    for what, names in left.items():
        if names:
            logger.warning("weights from %s: %s %s", source, ", ".join(names), what)


def _count_classes(given: int | None, head: Mapping[str, Any], labels: int | None) -> int:
    """Classes that the model's section asks for, else as many as there are labels."""
    key, count = ("model.head.num_classes", head.get("num_classes")) if given is None else ("model.num_classes", given)
    count = labels if count is None else count
    if count is None:
        fix = "add head: {num_classes: N} to the model"
        raise ConfigError(Problem(key, "not given", "an integer of 1 or more", fix=fix, kind="missing"))
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ConfigError(Problem(key, f"found {count!r}", "an integer of 1 or more"))
    if labels is not None and labels > count:
        raise ConfigError(Problem(key, f"found {count}, but the data have {labels} labels", f"{labels} or more"))
    return count


def _read_weights(models: ModuleType, name: str, weights: str, base_dir: str | Path | None) -> Mapping[str, Any]:
    """Name to tensor, of a file, or of torchvision's weights for a model."""
    known = {each.name: each for each in models.get_model_weights(name)}
    known["DEFAULT"] = models.get_model_weights(name).DEFAULT
    path = Path(base_dir or ".", weights)
    try:
        if path.is_file():
            read = files.load(path, "weights")
            return read["state_dict"] if isinstance(read.get("state_dict"), Mapping) else read
        if weights in known:
            return known[weights].get_state_dict(progress=False)
    except (OSError, ValueError, RuntimeError, AttributeError) as error:
        raise ConfigError(Problem("model.weights", reason_of(error), kind="file")) from error
    found = f"'{weights}' is no file, and no name of weights for {name}"
    raise ConfigError(Problem("model.weights", found, ", ".join(known), nearest(weights, known), kind="file"))
