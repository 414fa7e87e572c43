"""Clipping gradients by their common norm, whatever mixture of whole and sharded ones a model has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn


def clip_gradients(parameters: Iterable[nn.Parameter], max_norm: float, norm_type: float = 2.0, **options: Any) -> None:
    """Scale gradients so that their norm, taken over all of them, is at most ``max_norm``.

    torch's own function takes whole gradients, or sharded ones of one device mesh, but no mixture, which tensor
    parallelism makes: its plan leaves layers whole.

    Args:
        parameters: Those without a gradient are passed over.
        max_norm: Largest norm.
        norm_type: Order of the norm; ``inf`` for the largest value.
        options: ``error_if_nonfinite`` and ``foreach``, as in ``torch.nn.utils.clip_grad_norm_``.
    """
    by_mesh: dict[Any, list[nn.Parameter]] = {}
    for parameter in parameters:
        if parameter.grad is not None:
            by_mesh.setdefault(mesh_of(parameter), []).append(parameter)
    if set(by_mesh) <= {None}:
        for own in by_mesh.values():
            nn.utils.clip_grad_norm_(own, max_norm, norm_type, **options)
        return
    foreach = options.get("foreach")
    norms = [_norm([p.grad for p in own if p.grad is not None], norm_type, foreach) for own in by_mesh.values()]
    total = torch.linalg.vector_norm(torch.stack(norms), float(norm_type))
    if options.get("error_if_nonfinite") and not torch.isfinite(total):
        raise RuntimeError(f"the gradients' norm of order {norm_type} is {total}, so that they cannot be clipped")
    for own in by_mesh.values():
        nn.utils.clip_grads_with_norm_(own, max_norm, total, foreach)


def mesh_of(tensor: Tensor) -> Any:
    """Device mesh that a distributed tensor lies on; None for one that is whole."""
    return getattr(tensor, "device_mesh", None)


def _norm(gradients: list[Tensor], norm_type: float, foreach: bool | None) -> Tensor:
    """The norm of all of them, whole."""
    norm = nn.utils.get_total_norm(gradients, norm_type, foreach=foreach)
    return norm.full_tensor() if mesh_of(norm) else norm  # type: ignore[attr-defined]
