"""ConfigData: the data of the config, as the ``data`` of a Lightning CLI file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from jsonargparse.typing import path_type

from adapter.converted.text import unmarked
from adapter.lightning.datamodule import DataModule, DeferredLoader, SharedLoader

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer


# jsonargparse reads it: a relative path of this type starts at the folder of the file that it stands in
Folder: Any = path_type("dr")


class ConfigData(DataModule):
    """Hands over what the config says of data; ConfigModel builds the loaders from it.

    Args:
        dataset: Section ``dataset``: ``{train: {type, ...}, val: {type, ...}}``.
        preprocessor: Section ``preprocessor``.
        train_loader: Section ``train.dataloader``; batch size per process.
        eval_loader: Section ``evaluation.dataloader``.
        base_dir: Folder that relative paths of the data start from; in a file, as seen from the file's folder.
        datasets: Section ``datasets`` of a config with a section ``run``.
    """

    def __init__(
        self,
        dataset: dict[str, Any] | None = None,
        preprocessor: Any = None,
        train_loader: dict[str, Any] | None = None,
        eval_loader: dict[str, Any] | None = None,
        base_dir: Folder = ".",
        datasets: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(cast("EpochBasedTrainer", None))  # it is made when a run begins
        self.base_dir = Path(os.fspath(base_dir))
        given = {"dataset": dataset, "train_loader": train_loader, "eval_loader": eval_loader, "datasets": datasets}
        self.sections = {
            **{name: unmarked(values) for name, values in given.items() if values is not None},
            **({"preprocessor": preprocessor} if preprocessor is not None else {}),
        }

    def test_dataloader(self) -> DeferredLoader | SharedLoader:
        """The loader of what is evaluated: a test split."""
        return self.val_dataloader()

    def predict_dataloader(self) -> DeferredLoader | SharedLoader:
        """The loader of what is predicted: the evaluation data."""
        return self.val_dataloader()
