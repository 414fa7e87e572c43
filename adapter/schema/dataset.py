"""The ``dataset`` section."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from adapter.schema.field import Doc


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """The data; other keys describe both splits, or are read by the model's own preprocessor."""

    OPEN = "data"

    train: Annotated[dict | list[dict] | None, Doc("Training data: a data set, or several that are joined.")] = None
    val: Annotated[dict | list[dict] | None, Doc("Evaluation data.")] = None
