"""LogBuffer: what happened since the epoch began, and what the next log line will say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

Number = float | int


class LogBuffer:
    """Collects values a log line averages.

    A value given as a tensor stays where it is until someone reads the history: a log line then costs one transfer
    from the device for all its iterations, and the iterations between log lines cost none.

    Attributes:
        output: Name to value, the content of the next log line.
        ready: Whether ``output`` is complete, so that the loggers write a line.
    """

    def __init__(self) -> None:
        self._values: dict[str, list[Any]] = {}
        self._read: dict[str, int] = {}  # how many leading entries of each list are plain numbers already
        self._counts: dict[str, list[Number]] = {}
        self.output: dict[str, Any] = {}
        self.ready = False

    @property
    def val_history(self) -> dict[str, list[Any]]:
        """Name to every value since the epoch began, as plain numbers; reading it waits for the device."""
        for name, values in self._values.items():
            self._fetch(name, values)
        return self._values

    @property
    def n_history(self) -> dict[str, list[Number]]:
        """Name to the count (weight) that came with each value."""
        return self._counts

    def update(self, values: Mapping[str, Number | torch.Tensor], count: Number = 1) -> None:
        """Append one value a name.

        Args:
            values: Name to a number or a tensor of one element, of any dtype; tensors are detached and copied, since
                the caller may go on to change them in place.
            count: Weight of these values in the average, such as the samples they stand for.

        Raises:
            TypeError: ``values`` is not a mapping.
        """
        if not isinstance(values, Mapping):
            raise TypeError(f"LogBuffer.update needs a mapping of names to numbers, found {type(values).__name__}")
        for name, value in values.items():
            if not isinstance(value, (int, float)) and hasattr(value, "detach"):
                value = value.detach().clone()
            history = self._values.get(name)
            if history is None:
                self._values[name], self._counts[name], self._read[name] = [value], [count], 0
            else:
                history.append(value)
                self._counts[name].append(count)

    def average(self, n: int = 0) -> None:
        """Write the weighted mean of the last ``n`` values of each name (0: of all) to ``output``; sets ``ready``."""
        import numpy as np

        for name, values in self._values.items():
            self._fetch(name, values)
            weights = np.array(self._counts[name][-n:])
            self.output[name] = float(np.sum(np.array(values[-n:]) * weights) / np.sum(weights))
        self.ready = True

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

    def _fetch(self, name: str, values: list[Any]) -> None:
        """Replace the tensors at the end of a history by numbers, in one transfer."""
        start = self._read[name]
        pending = values[start:]
        if any(hasattr(value, "detach") for value in pending):
            import torch

            device = next(value.device for value in pending if isinstance(value, torch.Tensor))
            stacked = torch.stack([torch.as_tensor(value, device=device).reshape(()) for value in pending])
            values[start:] = stacked.tolist()
        self._read[name] = len(values)
