"""DataModule: the trainer's data loaders, started as late as a plain loop would start them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import lightning as L

from adapter.data.stream import TrainingStream

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer


class DeferredLoader:
    """The evaluation loader, with an iterator that is made when the first batch is asked for, as in TrainingStream.

    Args:
        loader: The data loader; its length, if it has one, is this one's.
    """

    def __init__(self, loader: Iterable[Any]) -> None:
        self.loader = loader

    def __len__(self) -> int:
        return len(self.loader)  # type: ignore[arg-type]  # one without length raises TypeError, as it should

    def __iter__(self) -> Iterator[Any]:
        yield from self.loader


class DataModule(L.LightningDataModule):
    """Hands the trainer's loaders to Lightning.

    Args:
        owner: The trainer whose ``get_train_dataloader`` and ``get_eval_data_loader`` are asked.
    """

    def __init__(self, owner: EpochBasedTrainer) -> None:
        super().__init__()
        self.owner = owner

    def train_dataloader(self) -> TrainingStream:
        """The training batches."""
        return self.owner.stream

    def val_dataloader(self) -> DeferredLoader:
        """The evaluation loader, made at the first evaluation."""
        if self.owner.eval_dataloader is None:
            self.owner.eval_dataloader = self.owner.get_eval_data_loader()
        return DeferredLoader(self.owner.eval_dataloader)
