"""One seed for every random number generator a run draws from, and the states of all of them."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from adapter.errors import ConfigError, Problem


def seed_everything(seed: int) -> None:
    """Seed Python, numpy and torch (all devices).

    Raises:
        ConfigError: Not an integer from 0 to 2**32 - 1.
    """
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**32:
        raise ConfigError(Problem("seed", f"found {seed!r}", allowed=f"an integer from 0 to {2**32 - 1}"))
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def random_state() -> dict[str, Any]:
    """States of the generators of Python, numpy and torch, in types that load without running code."""
    kind, keys, *rest = np.random.get_state()
    return {
        "random": random.getstate(),
        "numpy": (kind, torch.from_numpy(np.asarray(keys).astype(np.int64)), *rest),
        "cpu": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else [],
    }


def set_random_state(state: Mapping[str, Any]) -> None:
    """Put every generator where ``random_state`` found it; ModelScope's ``rng_state`` has the same keys."""
    version, words, gauss = state["random"]
    random.setstate((version, tuple(words), gauss))
    kind, keys, *rest = state["numpy"]
    np.random.set_state((kind, np.asarray(keys).astype(np.uint32), *rest))
    torch.set_rng_state(state["cpu"])
    devices = torch.cuda.device_count() if torch.cuda.is_available() else 0
    for device, own in zip(range(devices), state["cuda"], strict=False):
        torch.cuda.set_rng_state(own, device)
