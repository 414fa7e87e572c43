"""The ``model`` section."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from adapter.schema.field import Doc


@dataclass(frozen=True, kw_only=True)
class Model:
    """The model; other keys are arguments of its class."""

    OPEN = "model"

    type: Annotated[
        str | None,
        Doc("Registered name or import path; not needed when a model object is passed in.", target="class"),
    ] = None
