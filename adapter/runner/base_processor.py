"""BaseProcessor: what prepares one input of a ``run:`` config's data set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

P = TypeVar("P", bound="BaseProcessor")


class BaseProcessor:
    """Base of the processors; a subclass sets ``transform`` or defines ``__call__``. This one changes nothing.

    Attributes:
        transform: From what a data set loaded to what goes into a batch.
    """

    def __init__(self) -> None:
        self.transform: Callable[[Any], Any] = lambda item: item

    def __call__(self, item: Any) -> Any:
        """The item, prepared."""
        return self.transform(item)

    @classmethod
    def from_config(cls: type[P], cfg: Mapping[str, Any] | None = None) -> P:
        """The processor with the arguments in ``cfg``."""
        return cls(**(cfg or {}))
