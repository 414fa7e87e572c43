"""LogBuffer: what happened since the epoch began, and what the next log line will say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import mul
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

Number = float | int


class LogBuffer:
    """Collects values a log line averages.

    A value given as a tensor stays where it is until someone reads the history: a log line then costs one transfer
    from the device for all its iterations, and the iterations between log lines cost none.

    Args:
        gather: From this process's value to everybody's, by rank; None for a process on its own.

    Attributes:
        gather: The same.
        output: Name to value, the content of the next log line.
        ready: Whether ``output`` is complete, so that the loggers write a line.
    """

    def __init__(self, gather: Callable[[Any], list[Any]] | None = None) -> None:
        self.gather = gather
        self._shared: set[str] = set()
        self._values: dict[str, list[Any]] = {}
        self._read: dict[str, int] = {}  # leading entries known to be plain numbers, of names that get tensors
        self._counts: dict[str, list[Number]] = {}
        self.output: dict[str, Any] = {}
        self.ready = False

    @property
    def val_history(self) -> dict[str, list[Any]]:
        """Name to every value since the epoch began, as plain numbers; reading it waits for the device."""
        self._fetch()
        return self._values

    @property
    def n_history(self) -> dict[str, list[Number]]:
        """Name to the count (weight) that came with each value."""
        return self._counts

    def update(self, values: Mapping[str, Number | torch.Tensor], count: Number = 1, shared: bool = False) -> None:
        """Append one value a name.

        Args:
            values: Name to a number or a tensor of one element, of any dtype; tensors are detached and copied, since
                the caller may go on to change them in place.
            count: Weight of these values in the average, such as the samples they stand for.
            shared: Whether ``average`` takes the mean over the processes, too, all of which then call it.

        Raises:
            TypeError: ``values`` is not a mapping.
        """
        if not isinstance(values, Mapping):
            raise TypeError(f"LogBuffer.update needs a mapping of names to numbers, found {type(values).__name__}")
        if shared:
            self._shared.update(values)
        for name, value in values.items():
            if not isinstance(value, (int, float)) and hasattr(value, "detach"):
                value = value.detach().clone()
                self._read.setdefault(name, len(self._values.get(name, ())))
            if name in self._values:
                self._values[name].append(value)
                self._counts[name].append(count)
            else:
                self._values[name], self._counts[name] = [value], [count]

    def average(self, n: int = 0) -> None:
        """Write the weighted mean of the last ``n`` values of each name (0: of all) to ``output``; sets ``ready``."""
        import numpy as np

        self._fetch()
        for name, values in self._values.items():
            weights = np.array(self._counts[name][-n:])
            self.output[name] = float((np.array(values[-n:]) * weights).sum() / weights.sum())
        if self.gather and self._shared:
            self.output.update(self._over_processes(n, self.gather))
        self.ready = True

    def _over_processes(self, n: int, gather: Callable[[Any], list[Any]]) -> dict[str, float]:
        """Means of the shared values over everybody's last ``n``; a name may be missing on some."""
        own = {
            name: (sum(map(mul, self._values[name][-n:], self._counts[name][-n:])), sum(self._counts[name][-n:]))
            for name in self._shared & self._values.keys()
        }
        sums: dict[str, Number] = {}
        counts: dict[str, Number] = {}
        for one in gather(own):
            for name, (value, count) in one.items():
                sums[name], counts[name] = sums.get(name, 0) + value, counts.get(name, 0) + count
        return {name: float(sums[name] / counts[name]) for name in sums}

    def state_dict(self) -> dict[str, Any]:
        """Histories and output, as plain numbers; for a checkpoint in the middle of an epoch."""
        return {
            "values": {name: list(values) for name, values in self.val_history.items()},
            "counts": {name: list(counts) for name, counts in self._counts.items()},
            "output": dict(self.output),
            "ready": self.ready,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take back what ``state_dict`` returned."""
        self.clear()
        self._values = {name: list(values) for name, values in state["values"].items()}
        self._counts = {name: list(counts) for name, counts in state["counts"].items()}
        self.output = dict(state["output"])
        self.ready = state["ready"]

    def clear(self) -> None:
        """Forget the history and the output."""
        self._values.clear()
        self._read.clear()
        self._counts.clear()
        self.clear_output()

    def clear_output(self) -> None:
        """Forget the output only; the next log line starts empty."""
        self.output.clear()
        self.ready = False

    def _fetch(self) -> None:
        """Replace the tensors in the histories by numbers, one transfer from the device a name."""
        for name, start in self._read.items():
            values = self._values[name]
            if start < len(values):
                values[start:] = _numbers(values[start:])
                self._read[name] = len(values)


def _numbers(values: list[Any]) -> list[Any]:
    """Plain numbers of tensors (and numbers) that are on one device."""
    import torch

    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    if len(tensors) < len(values) or all(tensor.device.type == "cpu" for tensor in tensors):
        return [value.item() if isinstance(value, torch.Tensor) else value for value in values]
    numbers: list[Any] = torch.stack([tensor.reshape(()) for tensor in tensors]).tolist()
    return numbers
