"""What a checkpoint may hold of a user's own: values that loading gives back without running code."""

from __future__ import annotations

from collections import Counter, OrderedDict
from typing import Any

import numpy as np
import torch

from adapter.config import ConfigDict

PLAIN = (type(None), bool, int, float, complex, str, bytes, bytearray, torch.dtype, torch.device, torch.Size)
SEQUENCES = (list, tuple, set)
MAPPINGS = (dict, OrderedDict, Counter)
ALLOWED = "numbers, strings, None, lists, tuples, sets, dicts, tensors and numeric numpy arrays"
NUMERIC = "biufc"  # numpy's kinds of dtypes that hold numbers


def loadable(value: Any, owner: str, where: str = "state_dict()") -> Any:
    """The value as a checkpoint holds it: numpy scalars and mappings of a config, at any depth, become plain ones.

    Subclasses of the plain types are refused, too: their class would have to be imported, which runs code.

    Args:
        value: What is to be saved.
        owner: Whose it is; used in the error.
        where: The expression that gives it; used in the error.

    Raises:
        TypeError: It could be saved, but not loaded again; names the owner, the entry and what is allowed.
    """
    value = value.item() if isinstance(value, np.generic) else value
    value = dict(value) if type(value) is ConfigDict else value
    if isinstance(value, torch.Tensor) or type(value) in PLAIN:
        return value
    if type(value) is np.ndarray and value.dtype.kind in NUMERIC:
        return value
    if type(value) in SEQUENCES:
        entries = [loadable(each, owner, f"{where}[{index}]") for index, each in enumerate(value)]
        return entries if type(value) is list else type(value)(entries)
    if type(value) in MAPPINGS:
        keys = [loadable(key, owner, f"a key of {where}") for key in value]
        return type(value)(
            {key: loadable(each, owner, f"{where}[{key!r}]") for key, each in zip(keys, value.values(), strict=True)}
        )
    raise TypeError(
        f"{owner}: {where} is of the type {type(value).__module__}.{type(value).__qualname__}, so that no checkpoint "
        f"with it could be resumed; allowed: {ALLOWED}"
    )


def numpy_types() -> list[Any]:
    """What numeric numpy arrays inside a checkpoint are made of, for torch's list of types that are safe to load."""
    dtypes = {type(np.dtype(code)) for code in np.typecodes["All"] if np.dtype(code).kind in NUMERIC}
    return [np.empty(0).__reduce__()[0], np.ndarray, np.dtype, *dtypes]
