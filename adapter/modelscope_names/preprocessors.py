"""ModelScope's base class of preprocessors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

MODES = ("train", "eval", "inference")


class Preprocessor(ABC):
    """From a sample as it is stored to one that a model takes.

    Args:
        mode: ``train``, ``eval`` or ``inference``.

    Attributes:
        device: Where its tensors go; the loop moves them.
    """

    def __init__(self, mode: str = "inference", *args: Any, **kwargs: Any) -> None:
        self.mode = mode
        self.device = None

    @property
    def mode(self) -> str:
        """What the samples are for: ``train``, ``eval`` or ``inference``."""
        return self._mode

    @mode.setter
    def mode(self, value: str) -> None:
        value = "eval" if value == "val" else value  # as the adapter's configs say
        if value not in MODES:
            raise ValueError(f"mode '{value}' is none of {', '.join(MODES)}")
        self._mode = value

    @abstractmethod
    def __call__(self, data: Any) -> Any:
        """The sample that a model takes."""
