"""Taking a config apart and putting it together again loses nothing."""

from __future__ import annotations

import pytest
import yaml
from jsonargparse import ArgumentParser

from adapter.config import Config
from adapter.converted.sections import HookEntry, Sections, join, split
from adapter.converted.text import marked, unmarked
from adapter.prepare import prepare
from tests.parity.golden.cases import CASES
from tests.parity.recorded_cases import CASES as RECORDED

CONFIGS = {
    **{name: case["cfg"] for name, case in CASES.items()},
    **{name: case["cfg"] for name, case in RECORDED.items()},
}


@pytest.mark.parametrize("name", CONFIGS)
def test_there_and_back(name: str) -> None:
    config = prepare(Config(CONFIGS[name])).config
    assert join(split(config)) == config.to_dict()


@pytest.mark.parametrize("loggers", ["csv", ["csv", {"type": "tensorboard", "name": "x"}]])
def test_loggers_leave_the_rest_of_the_section(loggers: object) -> None:
    train = {"max_epochs": 1, "loggers": loggers, "gradient_checkpointing": True, "optimizer": {"type": "SGD", "lr": 1}}
    config = prepare(Config({"model": {"type": "x"}, "train": train})).config
    assert join(split(config)) == config.to_dict()


NO_OPTIMIZER, NO_SCHEDULER = {"type": "NoneOptimizerHook"}, {"type": "NoneLrSchedulerHook"}
LISTED = (HookEntry("Mine"), HookEntry("OptimizerHook", None, "train.hooks"))


@pytest.mark.parametrize(
    ("left", "hooks"),
    [
        ((), {"train.optimizer_hook": NO_OPTIMIZER, "train.lr_scheduler_hook": NO_SCHEDULER}),
        ((HookEntry("OptimizerHook"),), {"train.optimizer_hook": None, "train.lr_scheduler_hook": NO_SCHEDULER}),
        ((HookEntry("TextLoggerHook", {"interval": 3}),), {"train.logging": {"interval": 3}, "train.checkpoint": None}),
        (LISTED, {"train.hooks": [{"type": "Mine"}, {"type": "OptimizerHook"}]}),
    ],
)
def test_what_is_not_listed_does_not_run(left: tuple[HookEntry, ...], hooks: dict[str, object]) -> None:
    config = Config(join(Sections({"model": {"type": "x"}}, {}, {}, left)))
    assert {key: config.safe_get(key) for key in hooks} == hooks


@pytest.mark.parametrize(
    "text", ["123", "1e-3", "true", "null", "a: b", "[1, 2]", "2024-01-01", " x", "inf", "1_0", "yes"]
)
def test_texts_stay_texts(text: str) -> None:
    """Where LightningCLI's parser would read them."""
    parser = ArgumentParser()
    parser.add_argument("--section", type=dict[str, object])
    values = {"a": text, "b": [text], "c": {"d": text}, "e": "plain"}
    again = parser.parse_object({"section": yaml.safe_load(yaml.safe_dump(marked(values)))})
    assert unmarked(again.section) == values
