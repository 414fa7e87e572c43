"""``--trainer.KEY=VALUE``."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from adapter.cli.trainer_arguments import _as_written, read_trainer_arguments, split_trainer_arguments
from adapter.errors import ConfigError


@pytest.mark.parametrize(
    ("words", "rest", "found"),
    [
        ("c.yaml a=1", ["c.yaml", "a=1"], {}),
        ("c.yaml --trainer.max_steps=3 a=1", ["c.yaml", "a=1"], {"max_steps": "3"}),
        ("--trainer.max_steps 3 c.yaml", ["c.yaml"], {"max_steps": "3"}),
        ("--trainer.max_steps -1 c.yaml", ["c.yaml"], {"max_steps": "-1"}),
        ("--trainer.max_steps=3 --trainer.max_steps=4", [], {"max_steps": "4"}),
        ("--trainer.max_time=a=b", [], {"max_time": "a=b"}),
        ("--trainer.logger=", [], {"logger": ""}),
    ],
)
def test_split(words: str, rest: list[str], found: dict[str, str]) -> None:
    assert split_trainer_arguments(words.split()) == (rest, found)


@pytest.mark.parametrize("words", ["--trainer.max_steps", "--trainer.max_steps --trainer.devices=1"])
def test_split_refuses_a_key_without_value(words: str) -> None:
    with pytest.raises(ConfigError, match=r"--trainer\.max_steps: has no value"):
        split_trainer_arguments(words.split())


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("max_epochs", "3", 3),
        ("max_steps", "-1", -1),
        ("limit_train_batches", "0.5", 0.5),
        ("limit_train_batches", "2", 2),
        ("gradient_clip_val", "1e-3", 1e-3),
        ("devices", "auto", "auto"),
        ("precision", "bf16-mixed", "bf16-mixed"),
        ("enable_progress_bar", "false", False),
        ("logger", "null", None),
        ("max_time", "{hours: 1}", {"hours": 1}),
    ],
)
def test_read(key: str, text: str, value: Any) -> None:
    found = read_trainer_arguments({key: text})
    assert found == {key: value}
    assert type(found[key]) is type(value)


def test_read_names_every_wrong_argument() -> None:
    with pytest.raises(ConfigError) as caught:
        read_trainer_arguments(
            {
                "max_epoch": "3",
                "max_epochs": "x",
                "devices": "1",
                "precision": "17",
                "profiler": "lightning.pytorch.profilers.SimpleProfiler",
            }
        )
    text = str(caught.value)
    assert "4 problems" in text
    assert "--trainer.max_epoch: lightning.Trainer takes no such argument. Did you mean 'max_epochs'?" in text
    assert "--trainer.max_epochs: found 'x'; allowed: Optional[int]" in text
    assert "--trainer.precision: found '17'; allowed: " in text
    assert "--trainer.profiler: found 'lightning.pytorch.profilers.SimpleProfiler', which names an object" in text


def test_read_nothing() -> None:
    assert read_trainer_arguments({}) == {}


@pytest.mark.parametrize(
    ("annotation", "text", "want"),
    [
        (int | float | None, "2", int),
        (float | int, "-1", int),
        (float | int, "1.0", float),
        (float | None, "2", float),
    ],
)
def test_an_integer_stays_one_where_it_is_allowed(annotation: Any, text: str, want: type) -> None:
    parameter = inspect.Parameter("x", inspect.Parameter.KEYWORD_ONLY, annotation=annotation)
    found = _as_written(float(text), text, parameter)
    assert (type(found), found) == (want, float(text))
