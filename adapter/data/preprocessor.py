"""From the ``preprocessor`` section to what is applied to each sample."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from adapter.data.dataset import Preprocessor
from adapter.data.image_transforms import build_transform, is_transform
from adapter.registry import PREPROCESSORS


class Steps:
    """Preprocessors applied one after the other.

    Args:
        steps: Each takes a sample, as the one before it left it, and returns a sample.
    """

    def __init__(self, steps: Sequence[Preprocessor]) -> None:
        self.steps = steps

    def __call__(self, sample: Any) -> Any:
        """The sample after the last step."""
        for step in self.steps:
            sample = step(sample)
        return sample


def build_preprocessor(
    cfg: Any, mode: str, key: str = "preprocessor", offered: Mapping[str, Any] | None = None
) -> Preprocessor | None:
    """The preprocessor of a mode: ``{type, **arguments}`` or a list of such; None when there is none.

    Args:
        cfg: The ``preprocessor`` section: for both modes, or ``{train, val}``.
        mode: ``train`` or ``val``.
        key: Where the section stands in the config, for error messages.
        offered: Arguments for those whose constructor has a parameter of the name, when the config does not say.

    Raises:
        ConfigError: A missing or unknown type, or arguments it does not take.
    """
    if isinstance(cfg, Mapping) and "type" not in cfg:
        cfg, key = cfg.get(mode), f"{key}.{mode}"
    if isinstance(cfg, (list, tuple)):
        steps = [_build(step, f"{key}[{i}]", offered) for i, step in enumerate(cfg)]
        return steps[0] if len(steps) == 1 else Steps(steps)
    return _build(cfg, key, offered) if cfg else None


def can_build(cfg: Any) -> bool:
    """Whether every preprocessor that a section names, for either mode, is known here."""
    if isinstance(cfg, Mapping) and "type" not in cfg:
        return all(map(can_build, filter(None, (cfg.get("train"), cfg.get("val")))))
    steps = cfg if isinstance(cfg, (list, tuple)) else [cfg] if cfg else []
    return all(isinstance(step, Mapping) and PREPROCESSORS.problem(step.get("type"), "") is None for step in steps)


def _build(cfg: Mapping[str, Any], key: str, offered: Mapping[str, Any] | None) -> Preprocessor:
    if "type" not in cfg:
        return PREPROCESSORS.build(cfg, key)
    cls = PREPROCESSORS.resolve(cfg["type"], f"{key}.type")
    if is_transform(cls):
        return build_transform(cls, cfg, key, lambda step, where: _build(step, where, offered))
    if not offered:
        return PREPROCESSORS.build(cfg, key)
    taken = inspect.signature(cls).parameters
    return PREPROCESSORS.build(cfg, key, **{name: value for name, value in offered.items() if name in taken})
