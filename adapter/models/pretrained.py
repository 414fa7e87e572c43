"""Whether a config's model is one of transformers, and what a model's class is told of the run."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from adapter.errors import ConfigError
from adapter.models.directory import architecture_of, architectures
from adapter.registry import MODELS

TYPE = "transformers"
OWN = ("num_labels", "id2label", "label2id", "head")  # arguments, rather than values of the model's config


def pretrained_section(section: Mapping[str, Any], model_dir: str | None = None) -> dict[str, Any]:
    """The ``model`` section, as one of type ``transformers`` where it means such a model.

    That is the case when it has a ``path`` and no ``type``, or when its ``type`` is an architecture of transformers, or
    absent, and the model's directory holds one.

    Args:
        section: The section.
        model_dir: The model's directory, which a ``path`` or ``model_dir`` in the section goes before.
    """
    given = dict(section)
    kind = given.get("type")
    path = given.pop("path", None) or given.pop("model_dir", None)
    if kind == TYPE:
        return {"path": path or model_dir, **given} if path or model_dir else given
    named = kind in architectures() and kind not in MODELS
    if kind is not None and not named:
        return dict(section)
    if path is None and architecture_of(model_dir) is not None:
        path = model_dir
    if path is None:
        return dict(section)
    rest = {name: value for name, value in given.items() if name != "type"}
    if not named:
        return {"type": TYPE, "path": path, **rest}
    own = {name: rest[name] for name in OWN if name in rest and not isinstance(rest.get("head"), Mapping)}
    return {"type": TYPE, "path": path, **own, "backbone": {**rest, "type": kind}}


def model_arguments(section: Mapping[str, Any], told: Mapping[str, Any]) -> dict[str, Any]:
    """The section with what its class has parameters for, of what is known of the run; the section's own win.

    ``id2label`` and ``label2id`` of the section give way: they are where the known ones come from.
    """
    kind = section.get("type")
    if not isinstance(kind, str):
        return dict(section)
    try:
        taken = inspect.signature(MODELS.resolve(kind, "model.type")).parameters
    except (ConfigError, TypeError, ValueError):  # reported when it is built
        return dict(section)
    asked = {name: value for name, value in section.items() if name not in ("id2label", "label2id") or name not in told}
    ours = MODELS.resolve(kind).__module__.startswith("adapter.")
    known = {name: value for name, value in told.items() if name in taken and (ours or name in OWN)}
    return {**known, **asked}
