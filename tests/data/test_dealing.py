from __future__ import annotations

import pickle

import pytest
from torch.utils.data import BatchSampler

from adapter.data.dealing import DealtBatches, DealtStream


class Counted:
    """Numbers from 0, and how many there are."""

    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return iter(range(self.n))


@pytest.mark.parametrize(
    ("samples", "shares", "expected"),
    [
        (7, 1, [[[0, 1], [2, 3], [4, 5], [6]]]),
        (7, 2, [[[0, 1], [4, 5]], [[2, 3], [6]]]),
        (5, 2, [[[0, 1], [4]], [[2, 3]]]),
        (1, 3, [[[0]], [], []]),
    ],
)
def test_batches_are_dealt_in_turn(samples, shares, expected):
    dealt = [DealtBatches(BatchSampler(range(samples), 2, False), share, shares) for share in range(shares)]
    assert [list(batches) for batches in dealt] == expected
    assert [len(batches) for batches in dealt] == [len(batches) for batches in expected]


@pytest.mark.parametrize(
    ("samples", "shares", "rounds", "expected"),
    [
        (7, 1, True, [[0, 1, 2, 3, 4, 5, 6]]),
        (7, 2, True, [[0, 1, 4, 5], [2, 3, 6]]),
        (5, 2, True, [[0, 1], [2, 3]]),
        (5, 2, False, [[0, 1, 4], [2, 3]]),
        (4, 2, True, [[0, 1], [2, 3]]),
        (1, 3, True, [[], [], []]),
        (1, 3, False, [[0], [], []]),
    ],
)
def test_a_stream_is_dealt_in_turn_too(samples, shares, rounds, expected):
    dealt = [DealtStream(Counted(samples), 2, share, shares, rounds) for share in range(shares)]
    assert [list(stream) for stream in dealt] == expected
    assert [list(stream) for stream in dealt] == expected  # again


def test_attributes_of_the_data_are_there_for_workers_too():
    stream = pickle.loads(pickle.dumps(DealtStream(Counted(3), 2, 0, 2, False)))
    assert stream.n == 3
    with pytest.raises(AttributeError, match="nothing"):
        _ = stream.nothing
