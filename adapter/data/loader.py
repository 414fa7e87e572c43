"""From a data set and a LoaderPlan to a data loader."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    Sampler,
    SequentialSampler,
)
from torch.utils.data.distributed import DistributedSampler

from adapter.data.dealing import DealtBatches, DealtStream
from adapter.errors import ConfigError, Problem, nearest

if TYPE_CHECKING:
    from adapter.plan import LoaderPlan

# DataLoader's keywords that a config sets in another way, or not at all.
RESERVED = frozenset(
    [
        "dataset",
        "batch_size",
        "num_workers",
        "shuffle",
        "drop_last",
        "sampler",
        "batch_sampler",
        "collate_fn",
        "worker_init_fn",
        "generator",
    ]
)


def build_loader(
    dataset: Dataset[Any],
    loader: LoaderPlan,
    *,
    collate_fn: Callable[[list[Any]], Any] | None = None,
    sampler: Sampler[Any] | Iterable[Any] | None = None,
    seed: int = 42,
    rank: int = 0,
    world_size: int = 1,
    once: bool = False,
    key: str = "train.dataloader",
) -> DataLoader[Any]:
    """The data loader a config describes.

    Args:
        dataset: A map data set, or an iterable one (which takes no sampler and is never shuffled here).
        loader: Sizes and options.
        collate_fn: Makes a batch of a list of samples; torch's ``default_collate`` by default.
        sampler: Decides the order in place of ``loader.shuffle``.
        seed: The run's seed; worker ``w`` of this process is seeded with ``num_workers * rank + w + seed``.
        rank: This process's number, from 0.
        world_size: Processes that share the data. For training, unless there is a ``sampler``, each gets an equal
            share, some samples twice when they do not divide evenly. A data set without numbers is dealt out batch by
            batch, unless its attribute ``shards_itself`` is true.
        once: Each sample must come once, as for evaluation: whole batches are dealt out to the processes.
        key: Where the options stand in the config, for error messages.

    Raises:
        ConfigError: An option that ``DataLoader`` does not know, or a combination it refuses.
    """
    _check_options(loader, key)
    shared = world_size > 1 and not getattr(dataset, "shards_itself", False)
    order: dict[str, Any] = {"batch_size": loader.batch_size, "drop_last": loader.drop_last}
    if isinstance(dataset, IterableDataset):
        if shared:
            dataset = DealtStream(dataset, loader.batch_size, rank, world_size, rounds=not once)
    elif once and world_size > 1:
        order = {"batch_sampler": DealtBatches(_all_batches(dataset, loader, sampler, seed), rank, world_size)}
    elif sampler is not None:
        order["sampler"] = sampler
    elif world_size > 1:
        order["sampler"] = DistributedSampler(dataset, world_size, rank, shuffle=loader.shuffle)
    else:
        order["shuffle"] = loader.shuffle
    seeding = partial(seed_worker, num_workers=loader.num_workers, rank=rank, seed=seed)
    try:
        return DataLoader(
            dataset,
            num_workers=loader.num_workers,
            collate_fn=collate_fn,
            worker_init_fn=seeding if loader.num_workers else None,
            **order,
            **loader.options,
        )
    except (TypeError, ValueError) as error:
        raise ConfigError(Problem(key, f"the data loader cannot be built: {error}")) from error


def _all_batches(dataset: Any, loader: LoaderPlan, sampler: Any, seed: int) -> BatchSampler:
    """The batches of one process, in an order that is the same on all."""
    if sampler is None and loader.shuffle:
        sampler = RandomSampler(dataset, generator=torch.Generator().manual_seed(seed))
    order = SequentialSampler(dataset) if sampler is None else sampler
    return BatchSampler(order, loader.batch_size, loader.drop_last)


def seed_worker(worker_id: int, *, num_workers: int, rank: int, seed: int) -> None:
    """Seed a worker process's random streams: Python's, NumPy's and torch's."""
    worker_seed = num_workers * rank + worker_id + seed
    random.seed(worker_seed)
    np.random.seed(worker_seed)
    torch.manual_seed(worker_seed)


def _check_options(loader: LoaderPlan, key: str) -> None:
    known = [name for name in inspect.signature(DataLoader).parameters if name not in RESERVED]
    problems = [
        Problem(f"{key}.{name}", f"unknown option '{name}'", ", ".join(known), nearest(name, known))
        for name in loader.options
        if name not in known
    ]
    if problems:
        raise ConfigError(problems)


def count_batches(loader: DataLoader[Any] | None, key: str) -> int:
    """Batches of one pass over the data.

    Args:
        loader: The data loader.
        key: The setting that gives the number for data without a length; named in the error.

    Raises:
        ValueError: The data have no length, or there is no loader yet.
    """
    try:
        return len(loader)  # type: ignore[arg-type]  # None raises what a loader without length does
    except TypeError as error:
        raise ValueError(
            f"the data set has no length (or is not loaded yet): give `{key}`, the iterations of an epoch"
        ) from error


def set_epoch(loader: Any, epoch: int, seed: int) -> None:
    """Tell the data which epoch begins, so that an order of their own changes from epoch to epoch.

    The sampler's and the data set's ``set_epoch`` are called; a ``generator`` of the data set is seeded with
    ``seed + epoch``.
    """
    dataset = getattr(loader, "dataset", None)
    for part in (getattr(loader, "sampler", None), dataset):
        tell = getattr(part, "set_epoch", None)
        if tell is not None:
            tell(epoch)
    generator = getattr(dataset, "generator", None)
    if isinstance(generator, torch.Generator):
        generator.manual_seed(seed + epoch)
