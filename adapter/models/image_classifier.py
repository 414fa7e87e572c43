"""Image classifiers in EasyCV's spelling: a backbone and a head."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from adapter.data.image_transforms import torchvision_module
from adapter.errors import ConfigError, Problem, nearest
from adapter.models.torchvision_model import TorchvisionModel
from adapter.registry import MODELS

HEAD = "ClsHead"
USUAL = {  # what the backbones of torchvision do in any case
    "in_channels": 3,
    "num_stages": 4,
    "style": "pytorch",
    "frozen_stages": -1,
    "norm_eval": False,
    "with_cp": False,
    "deep_stem": False,
}
NORMS = ("BN", "SyncBN")


@MODELS.register_module(module_name="classification")
class ImageClassifier(TorchvisionModel):
    """A backbone of torchvision with a linear layer over it.

    Args:
        backbone: ``{type, depth}``, such as ResNet of depth 18 or MobileNetV2, and ``norm_cfg``: with ``SyncBN`` the
            batch statistics are those of all processes that train on GPUs. ``out_indices`` changes nothing.
        head: ``{type: ClsHead, num_classes, loss_config, label_smooth}``; ``in_channels`` has to be what the backbone
            gives.
        pretrained: A file of weights, or true for those that torchvision downloads.
        num_classes: The head's by default.
        num_labels: Labels of the data, when they are known; the classes, where nothing says how many.
        base_dir: Folder that a relative ``pretrained`` starts from; the current one by default.

    Raises:
        ConfigError: A backbone or head that torchvision does not have.
    """

    def __init__(
        self,
        backbone: Mapping[str, Any],
        head: Mapping[str, Any],
        pretrained: str | bool | None = None,
        num_classes: int | None = None,
        num_labels: int | None = None,
        base_dir: str | Path | None = None,
    ) -> None:
        name = _backbone_name(backbone)
        problems = [*_backbone_problems(backbone), *_head_problems(head)]
        if problems:
            raise ConfigError(problems)
        weights = "DEFAULT" if pretrained is True else pretrained or None
        super().__init__(name, num_classes, head, weights, num_labels, base_dir)
        _check_width(self.net, head.get("in_channels"))
        if _norm(backbone) == "SyncBN" and torch.cuda.is_available() and int(os.environ.get("WORLD_SIZE", "1")) > 1:
            self.net = nn.SyncBatchNorm.convert_sync_batchnorm(self.net)


def _backbone_name(backbone: Mapping[str, Any]) -> str:
    """torchvision's name of a backbone: ``resnet18`` for a ResNet of depth 18."""
    kind, depth = backbone.get("type"), backbone.get("depth", "")
    if not isinstance(kind, str):
        raise ConfigError(Problem("model.backbone.type", "not given", "such as ResNet", kind="missing"))
    models = torchvision_module("torchvision.models", "model.type")
    known = {name.replace("_", ""): name for name in models.list_models(module=models)}
    wanted = f"{kind}{depth}".replace("_", "").lower()
    if wanted not in known:
        depths = sorted({name for plain, name in known.items() if plain.startswith(kind.lower())})
        found = f"there is no {kind}" + (f" of depth {depth}" if depth else " without a depth" if depths else "")
        key = "model.backbone.depth" if depths else "model.backbone.type"
        near = nearest(wanted, known)
        raise ConfigError(Problem(key, found, ", ".join(depths), known.get(near, ""), kind="name"))
    return known[wanted]


def _backbone_problems(backbone: Mapping[str, Any]) -> list[Problem]:
    problems = []
    known = ("type", "depth", "out_indices", "norm_cfg", *USUAL)
    for name, value in backbone.items():
        if name not in known:
            problem = Problem(
                f"model.backbone.{name}", "nothing reads this key", ", ".join(known), nearest(name, known)
            )
            problems.append(problem)
        elif name in USUAL and value != USUAL[name]:
            problems.append(
                Problem(f"model.backbone.{name}", f"found {value!r}", f"{USUAL[name]!r}, as torchvision has it")
            )
    if _norm(backbone) not in NORMS:
        problems.append(Problem("model.backbone.norm_cfg.type", f"found {_norm(backbone)!r}", ", ".join(NORMS)))
    return problems


def _head_problems(head: Mapping[str, Any]) -> list[Problem]:
    problems = []
    if head.get("type", HEAD) != HEAD:
        problems.append(
            Problem("model.head.type", f"unknown head '{head['type']}'", HEAD, nearest(head["type"], [HEAD]))
        )
    if head.get("with_avg_pool", True) is not True:
        problems.append(Problem("model.head.with_avg_pool", f"found {head['with_avg_pool']!r}", "true"))
    return problems


def _norm(backbone: Mapping[str, Any]) -> Any:
    return (backbone.get("norm_cfg") or {}).get("type", "BN")


def _check_width(net: nn.Module, given: int | None) -> None:
    """Refuse a head of another width than the backbone's."""
    width = next((layer.in_features for layer in reversed(list(net.modules())) if isinstance(layer, nn.Linear)), given)
    if given not in (None, width):
        raise ConfigError(Problem("model.head.in_channels", f"found {given!r}", f"{width}, which the backbone gives"))
