"""Collect: what of a sample reaches the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from adapter.errors import MissingEntryError, Problem
from adapter.registry import PREPROCESSORS

NAMES = (("image", "img"), ("label", "labels", "gt_labels"))  # names that mean the same


@PREPROCESSORS.register_module()
class Collect:
    """Keeps some entries of a sample, images among them as plain tensors.

    Args:
        keys: Names of the entries. ``img`` and ``image`` mean the same, as do ``gt_labels``, ``labels`` and ``label``:
            an entry gets the name that is given here.
    """

    def __init__(self, keys: Sequence[str]) -> None:
        self.keys = [keys] if isinstance(keys, str) else list(keys)

    def __call__(self, sample: Mapping[str, Any]) -> dict[str, Any]:
        """The entries, in the order of ``keys``.

        Raises:
            MissingEntryError: The sample lacks one; lists what it has.
        """
        return {key: _plain(sample[_name_in(sample, key)]) for key in self.keys}


def _name_in(sample: Mapping[str, Any], key: str) -> str:
    """What the sample calls an entry."""
    synonyms = next((names for names in NAMES if key in names), ())
    for name in (key, *synonyms):
        if name in sample:
            return name
    found = f"Collect is to keep '{key}', which the samples do not have"
    raise MissingEntryError(Problem("preprocessor", found, allowed=", ".join(sample), kind="missing"))


def _plain(value: Any) -> Any:
    return value.as_subclass(Tensor) if isinstance(value, Tensor) else value
