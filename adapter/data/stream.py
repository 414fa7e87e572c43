"""TrainingStream: the training batches, epoch after epoch, from wherever a run left off."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from torch import Generator
from torch.utils.data import DataLoader, IterableDataset

from adapter.seeding import random_state, set_random_state


class TrainingStream:
    """Gives the batches of an epoch each time it is iterated.

    The loader's iterator is made when the first batch is asked for. Lightning makes its own before the hooks of
    ``before_run`` and ``before_train_epoch``; a loader draws its base seed, and the sampler its order, when the
    iterator is made, so hooks that draw random numbers would otherwise see, and leave, another stream.

    Args:
        loader: The data loader.
        limit: Batches an epoch; None for as many as the loader gives.

    Attributes:
        epoch_random: State of the random number generators when the present epoch's iterator was made.
    """

    def __init__(self, loader: Iterable[Any], limit: int | None = None) -> None:
        self.loader = loader
        self.limit = limit
        self.epoch_random: dict[str, Any] | None = None
        self._done = 0
        self._random_now: Mapping[str, Any] | None = None

    def __len__(self) -> int:
        return len(self.loader)  # type: ignore[arg-type]  # one without length raises TypeError, as it should

    def go_on(self, done: int, epoch_random: dict[str, Any] | None, random_now: Mapping[str, Any] | None) -> None:
        """Begin the next epoch in its middle.

        Args:
            done: Batches of the epoch that are not to be given again.
            epoch_random: State of the generators when the epoch began: it decides the order. None: it is not known.
            random_now: State of the generators after ``done`` batches: it decides everything else.
        """
        self._done, self.epoch_random, self._random_now = done, epoch_random, random_now

    def __iter__(self) -> Iterator[Any]:
        done, self._done = self._done, 0
        if done and self.epoch_random is not None:
            self.set_random_state(self.epoch_random)
        else:
            self.epoch_random = self.random_state()
        batches = iter(self.loader)
        if done:
            self._skip(batches, done)
        yield from batches if self.limit is None else islice(batches, self.limit - done)

    def _skip(self, batches: Iterator[Any], count: int) -> None:
        """Pass over batches; without worker processes those of a numbered data set are not even loaded."""
        loader = self.loader
        numbered = isinstance(loader, DataLoader) and not isinstance(loader.dataset, IterableDataset)
        unloaded = numbered and isinstance(loader, DataLoader) and loader.num_workers == 0
        skipped = batches._sampler_iter if unloaded else batches  # type: ignore[attr-defined]
        for number in range(count):
            if next(skipped, skipped) is skipped:
                raise ValueError(
                    f"the run to go on with had {count} iterations of this epoch behind it, but the data now give "
                    f"{number} an epoch; go on with the same data and batch size, or start from the weights only"
                )
        if self._random_now is not None:
            self.set_random_state(self._random_now)

    def random_state(self) -> dict[str, Any]:
        """States of every random number generator, with those that the loader and its samplers keep for themselves."""
        return {**random_state(), "samplers": [generator.get_state() for generator in self._generators()]}

    def set_random_state(self, state: Mapping[str, Any]) -> None:
        """Put every generator where ``random_state`` found it; states of others than samplers' alone will do."""
        set_random_state(state)
        for generator, own in zip(self._generators(), state.get("samplers", ()), strict=False):
            generator.set_state(own)

    def _generators(self) -> list[Generator]:
        """The generators that the order of the data is drawn from, each once; none for torch's own."""
        batches = getattr(self.loader, "batch_sampler", None)
        drawing = (self.loader, getattr(self.loader, "sampler", None), batches, getattr(batches, "sampler", None))
        found = (getattr(one, "generator", None) for one in drawing)
        return list({id(one): one for one in found if isinstance(one, Generator)}.values())
