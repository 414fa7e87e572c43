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
    name: Annotated[
        str | None,
        Doc("Data of which splits are used, where train or val names none: file, folder or name of the hub."),
    ] = None
    subset_name: Annotated[str | None, Doc("Subset of the data called name.")] = None
    hub: Annotated[
        str | None,
        Doc(
            "Hub that name is of; ModelScope's by default where it is installed, else Hugging Face's.",
            choices=("modelscope", "huggingface"),
        ),
    ] = None
    split_train: Annotated[str | None, Doc("Split of the data called name to train on.")] = None
    split_val: Annotated[str | None, Doc("Split of the data called name to evaluate on.")] = None
    split_eval: Annotated[str | None, Doc("Other spelling of split_val.")] = None
