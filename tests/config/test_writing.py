from __future__ import annotations

import enum
import json
import math
from collections import OrderedDict
from pathlib import PurePosixPath

import numpy as np
import pytest
import torch

from adapter.config import Config
from adapter.config.writing import portable, to_text


class Color(str, enum.Enum):
    RED = "red"


def double(x):
    return 2 * x


class Thing:
    def __repr__(self):
        return "Thing(1)"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ((1, (2,)), [1, [2]]),
        ({3}, [3]),
        (OrderedDict(a=(1,)), {"a": [1]}),
        (PurePosixPath("a/b"), "a/b"),
        (Color.RED, "red"),
        (np.float32(0.5), 0.5),
        (np.int64(3), 3),
        (np.float64(0.25), 0.25),
        (torch.tensor(2.5), 2.5),
        (double, f"<callable:{__name__}.double>"),
        (math.sqrt, "<callable:math.sqrt>"),
        (torch.nn.Linear, "<callable:torch.nn.modules.linear.Linear>"),
        (Thing(), "<expr:Thing(1)>"),
        ({(1, 2): 3}, {"(1, 2)": 3}),
        (True, True),
        (None, None),
    ],
)
def test_portable(value, expected):
    plain = portable(value)
    assert plain == expected
    assert type(plain) is type(expected)


@pytest.mark.parametrize("suffix", [".json", ".yaml", ".YML"])
def test_what_only_a_program_knows_can_be_written(suffix):
    text = to_text({"lr_lambda": double, "pair": (1, 2)}, suffix)
    assert Config.from_string(text, suffix) == {"lr_lambda": f"<callable:{__name__}.double>", "pair": [1, 2]}


def test_json_keeps_letters_and_order():
    text = to_text({"z": "é", "a": 1})
    assert list(json.loads(text)) == ["z", "a"]
    assert "é" in text


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"max_epochs": 2, "lr": 0.1, "name": "x"}, ["--max-epochs", "2", "--lr", "0.1", "--name", "x"]),
        ({"on": True, "off": False, "none": None}, ["--on", "--off", "False"]),
        ({"a": {"b_c": {"d": 1}}}, ["--a.b-c.d", "1"]),
        (
            {"sizes": [1, 2], "hooks": [{"type": "A"}, {"n": 3}]},
            ["--sizes", "1", "2", "--hooks[0].type", "A", "--hooks[1].n", "3"],
        ),
    ],
)
def test_a_config_as_words(values, words):
    assert Config(values).to_args(lambda found: found) == words


def test_words_may_keep_underscores():
    assert Config({"a_b": 1}).to_args(lambda found: found, use_hyphen=False) == ["--a_b", "1"]
