from __future__ import annotations

from pathlib import Path
from typing import Any

import lightning as L
import pytest
from torch.utils.data import SequentialSampler, default_collate

from adapter import ConfigError, Hook
from adapter.keywords import check_keywords
from tests.runs import make


@pytest.mark.parametrize(
    ("keywords", "key", "told"),
    [
        ({"samplers": 5}, "samplers", "found 5, of the type int; allowed: a torch Sampler, or a mapping"),
        ({"samplers": {"train": SequentialSampler}}, "samplers.train", "found the class SequentialSampler"),
        ({"data_collator": "default"}, "data_collator", "found 'default', of the type str"),
        ({"data_collator": {"val": [1]}}, "data_collator.val", "a function from a list of samples"),
        ({"preprocessor": 1.5}, "preprocessor", "of the type float"),
        ({"callbacks": Hook}, "callbacks", "found the class Hook; allowed: a list"),
        ({"callbacks": Hook()}, "callbacks", "of the type Hook; allowed: a list"),
        ({"callbacks": [Hook(), Hook]}, "callbacks[1]", "fix: make one: Hook(...)"),
        ({"callbacks": [{"type": "IterTimerHook"}]}, "callbacks[0]", "a Hook or a Lightning callback"),
        ({"optimizers": 3}, "optimizers", "a pair (optimizer, scheduler)"),
        ({"optimizers": (None,)}, "optimizers", "a pair (optimizer, scheduler)"),
        ({"cfg_modify_fn": {"train": 1}}, "cfg_modify_fn", "TrainingArgs"),
        ({"arg_parse_fn": 1}, "arg_parse_fn", "a list of words"),
        ({"cfg_options": ["a=1"]}, "cfg_options", "dotted keys"),
        ({"trainer_args": 1}, "trainer_args", "lightning.Trainer"),
        ({"compile": "yes"}, "compile", "True or False"),
        ({"compile_options": 1}, "compile_options", "torch.compile"),
    ],
)
def test_refused(keywords: dict[str, Any], key: str, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_keywords(keywords)
    assert [problem.key for problem in caught.value.problems] == [key]
    assert told in str(caught.value)


@pytest.mark.parametrize(
    "keywords",
    [
        {"samplers": [0, 1], "data_collator": default_collate, "preprocessor": dict, "optimizers": [None, None]},
        {"samplers": {"train": range(3)}, "data_collator": {"val": default_collate}, "preprocessor": {"train": None}},
        {"callbacks": (Hook(), L.Callback()), "cfg_modify_fn": print, "arg_parse_fn": print},
        {"cfg_options": {}, "compile": False, "anything": 5, "samplers": None},
    ],
)
def test_accepted(keywords: dict[str, Any]) -> None:
    check_keywords(keywords)


def test_the_trainer_tells_all_of_them_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        make(tmp_path, samplers=5, callbacks=[5], compile=1)
    assert [problem.key for problem in caught.value.problems] == ["callbacks[0]", "samplers", "compile"]
    assert not list(tmp_path.iterdir())


def test_a_prediction_needs_data(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no data set"):
        make(tmp_path).predict(None, lambda inputs, outputs: None)
