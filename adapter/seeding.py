"""One seed for every random number generator a run draws from."""

from __future__ import annotations

import random

import numpy as np
import torch


def seed_everything(seed: int) -> None:
    """Seed Python, numpy and torch (all devices).

    Raises:
        ValueError: Not an integer from 0 to 2**32 - 1.
    """
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**32:
        raise ValueError(f"seed must be an integer from 0 to {2**32 - 1}, found {seed!r}")
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
