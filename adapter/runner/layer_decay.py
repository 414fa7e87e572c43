"""Learning rates that fall from the last layer to the first, for a model's ``get_optimizer_params``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn


def layer_decay_groups(
    model: nn.Module, weight_decay: float, lr_scale: float, num_layers: int, layer_of: Callable[[str], int]
) -> list[dict[str, Any]]:
    """Parameter groups whose rate is multiplied by ``lr_scale`` once for each layer above theirs.

    Args:
        model: Its trained parameters are taken.
        weight_decay: Of matrices; vectors (biases, norms) do not decay.
        lr_scale: Factor a layer, ``lr_layer_decay`` of the config; 1 for the same rate everywhere.
        num_layers: Number of layers; the last one's rate is the schedule's.
        layer_of: From a parameter's name to its layer, 0 to ``num_layers - 1``.

    Raises:
        ValueError: ``layer_of`` names a layer that does not exist.
    """
    groups: dict[tuple[int, bool], list[nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        layer = layer_of(name)
        if not 0 <= layer < num_layers:
            raise ValueError(f"layer_of('{name}') is {layer}; there are layers 0 to {num_layers - 1}")
        if parameter.requires_grad:
            groups.setdefault((layer, parameter.ndim >= 2), []).append(parameter)
    return [
        {
            "params": parameters,
            "weight_decay": weight_decay if decays else 0,
            "lr_scale": lr_scale ** (num_layers - 1 - layer),
        }
        for (layer, decays), parameters in groups.items()
    ]
