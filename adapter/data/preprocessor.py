"""From the ``preprocessor`` section to what is applied to each sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adapter.data.dataset import Preprocessor
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


def build_preprocessor(cfg: Any, mode: str, key: str = "preprocessor") -> Preprocessor | None:
    """The preprocessor of a mode: ``{type, **arguments}`` or a list of such; None when there is none.

    Args:
        cfg: The ``preprocessor`` section: for both modes, or ``{train, val}``.
        mode: ``train`` or ``val``.
        key: Where the section stands in the config, for error messages.

    Raises:
        ConfigError: A missing or unknown type, or arguments it does not take.
    """
    if isinstance(cfg, Mapping) and "type" not in cfg:
        cfg, key = cfg.get(mode), f"{key}.{mode}"
    if isinstance(cfg, (list, tuple)):
        return Steps([PREPROCESSORS.build(step, f"{key}[{i}]") for i, step in enumerate(cfg)])
    return PREPROCESSORS.build(cfg, key) if cfg else None
