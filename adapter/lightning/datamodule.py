"""DataModule: the trainer's data loaders, started as late as a plain loop would start them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import lightning as L

from adapter.data.stream import TrainingStream
from adapter.processes import Processes

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


class SharedLoader:
    """This process's part of the evaluation data, begun as DeferredLoader's.

    It has no length, for a process may have no batch at all.

    Args:
        loader: Its data loader.
        limit: Batches of all processes together; None for all there are.
        processes: Those that share the data.
        evenly: Whether each needs as many batches as the others. Those it lacks are copies of others', as InVain.
    """

    def __init__(self, loader: Iterable[Any], limit: int | None, processes: Processes, evenly: bool) -> None:
        self.loader = loader
        self.limit = None if limit is None else len(range(processes.share, limit, processes.shares))
        self.processes = processes
        self.evenly = evenly

    def __iter__(self) -> Iterator[Any]:
        batches = islice(iter(self.loader), self.limit)
        yield from self._evenly(batches) if self.evenly else batches

    def _evenly(self, batches: Iterator[Any]) -> Iterator[Any]:
        batch = next(batches, None)
        stand_in = batch
        if self.processes.any(batch is None):
            stand_in = next((one for one in self.processes.gather(batch) if one is not None), None)
        while self.processes.any(batch is not None):
            yield InVain(stand_in) if batch is None else batch
            batch = next(batches, None)


@dataclass
class InVain:
    """A batch that goes through the model because other processes cannot do without this one; nothing comes of it."""

    batch: Any


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

    def val_dataloader(self) -> DeferredLoader | SharedLoader:
        """The evaluation loader, made at the first evaluation."""
        owner = self.owner
        owner.make_eval_dataloader()
        if owner.processes.size == 1:
            return DeferredLoader(owner.eval_dataloader)
        limit = None if owner.all_data else owner.plan.val_iters_per_epoch
        return SharedLoader(owner.eval_dataloader, limit, owner.processes, owner.strategy.shards_model)
