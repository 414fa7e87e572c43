from __future__ import annotations

import enum
import io
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
import torch

from adapter.checkpoint import files
from adapter.checkpoint.loadable import loadable
from adapter.config import ConfigDict

Point = namedtuple("Point", "x")


class Level(enum.IntEnum):
    LOW = 1


@pytest.mark.parametrize(
    "value",
    [
        *(1, 1.5, True, None, "a", b"a", 1j, 10**30, (1, "a"), [1, [2]], {1}, {"a": {1: 2}}),
        *(OrderedDict(a=1), Counter("aab"), torch.float32, torch.device("cpu"), torch.Size([1]), bytearray(b"a")),
        *(np.float64(0.5), np.float32(0.5), np.int64(3), np.bool_(True), np.str_("a"), {np.int64(1): np.float64(2)}),
    ],
)
def test_what_is_allowed_can_be_loaded(tmp_path, value):
    files.save(loadable(value, "Hook"), tmp_path / "a.pth")
    assert files.load(tmp_path / "a.pth") == value


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int64", "uint32", "bool", "complex64"])
def test_arrays_can_be_loaded(tmp_path, dtype):
    files.save(loadable([np.ones((2, 2), dtype)], "Hook"), tmp_path / "a.pth")
    (found,) = files.load(tmp_path / "a.pth")
    assert found.dtype == dtype
    assert (found == 1).all()


def test_mappings_of_a_config_become_plain(tmp_path):
    value = ConfigDict({"betas": {"first": 0.9}, "sizes": [{"a": 1}]})
    files.save(loadable({"options": value}, "Hook"), tmp_path / "a.pth")
    assert files.load(tmp_path / "a.pth") == {"options": {"betas": {"first": 0.9}, "sizes": [{"a": 1}]}}


def test_tensors_can_be_loaded_and_are_not_copied():
    tensor = torch.ones(2, requires_grad=True)
    assert loadable([tensor], "Hook")[0] is tensor


@pytest.mark.parametrize(
    "value",
    [
        *(object(), Path("a"), Decimal(1), frozenset([1]), deque([1]), defaultdict(int, a=1), range(3), slice(1), int),
        *(Level.LOW, Point(1), np.datetime64("2020-01-01"), np.array(["a"]), np.array([None]), len),
    ],
)
def test_what_is_refused_could_not_be_loaded(value):
    with pytest.raises(TypeError, match=r"Hook: state_dict\(\)\['a'\]\[1\] is of the type .*; allowed: numbers"):
        loadable({"a": [1, value]}, "Hook")
    written = io.BytesIO()
    torch.save(value, written)
    with pytest.raises(Exception, match=r"(?i)weights.only"):
        torch.load(io.BytesIO(written.getvalue()), weights_only=True)
