from __future__ import annotations

import random

import numpy as np
import pytest
import torch

from adapter.errors import ConfigError
from adapter.seeding import random_state, seed_everything, set_random_state


def draws():
    return random.random(), float(np.random.rand()), float(torch.rand(()))


def test_same_seed_same_numbers():
    seed_everything(7)
    first = draws()
    seed_everything(7)
    assert draws() == first


def test_other_seed_other_numbers_of_every_generator():
    seed_everything(7)
    first = draws()
    seed_everything(8)
    assert not set(draws()) & set(first)


def test_is_what_each_library_does_with_the_seed():
    seed_everything(42)
    ours = draws()
    random.seed(42)
    np.random.seed(42)
    torch.manual_seed(42)
    assert ours == draws()


def test_state_comes_back(tmp_path):
    random.gauss(0, 1)  # leaves a number for the next call
    np.random.normal()
    torch.save(random_state(), tmp_path / "state.pth")
    want = [*draws(), random.gauss(0, 1), np.random.normal()]
    seed_everything(1)
    set_random_state(torch.load(tmp_path / "state.pth", weights_only=True))
    assert [*draws(), random.gauss(0, 1), np.random.normal()] == want


@pytest.mark.parametrize("seed", [0, 2**32 - 1])
def test_limits(seed):
    seed_everything(seed)
    assert torch.initial_seed() == seed


@pytest.mark.parametrize("seed", [-1, 2**32, 1.0, True, None, "42"])
def test_refused(seed):
    with pytest.raises(ConfigError, match=rf"seed: found {seed!r}; allowed: an integer from 0 to 4294967295$"):
        seed_everything(seed)
