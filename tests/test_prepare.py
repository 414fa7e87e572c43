"""From what the user wrote to documented keys, in order of precedence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adapter import Config
from adapter.errors import Problem
from adapter.prepare import load, prepare, refuse_untrusted
from adapter.schema import where_written
from tests.small_runs import build, settings

LAYERS = ("default", "file", "cfg_modify_fn", "cfg_options", "keyword")


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("top", LAYERS)
def test_each_layer_wins_over_those_before_it(top: str, tmp_path: Path) -> None:
    """The work_dir is set by every layer up to `top`, each to its own name."""
    given = LAYERS[1 : LAYERS.index(top) + 1]

    def modify(config: Config) -> None:
        if "cfg_modify_fn" in given:
            config.train.work_dir = "cfg_modify_fn"

    trainer = build(
        tmp_path,
        settings(**({"train__work_dir": "file"} if "file" in given else {})),
        cfg_modify_fn=modify,
        cfg_options={"train.work_dir": "cfg_options"} if "cfg_options" in given else None,
        work_dir="keyword" if "keyword" in given else None,
    )
    assert trainer.work_dir == ("./work_dir" if top == "default" else top)
    trainer.evaluate()
    assert [path.name for path in tmp_path.iterdir()] == [Path(trainer.work_dir).name]


def test_defaults_then_changes_in_code_then_options_then_old_keys_move() -> None:
    seen: list[Any] = []

    def modify(config: Config) -> None:
        seen.append([dict(hook) for hook in config.train.hooks])
        config.train.hooks[0].interval = 3

    config = Config({"train": {"hooks": [{"type": "TextLoggerHook", "interval": 5}]}})
    prepared = prepare(config, modify, {"train.hooks.CheckpointHook.interval": 4})
    assert seen[0] == [
        {"type": "TextLoggerHook", "interval": 5},
        {"type": "CheckpointHook", "interval": 1},
        {"type": "IterTimerHook"},
    ]
    assert prepared.config.to_dict() == {
        "train": {
            "hooks": [{"type": "IterTimerHook"}],
            "logging": {"interval": 3},
            "checkpoint": {"period": {"interval": 4}},
        }
    }
    assert {move.to for move in prepared.moves if move.fate == "moved"} == {"train.logging", "train.checkpoint.period"}


@pytest.mark.parametrize(
    ("written", "options", "numbers"),
    [
        ([], {"train.hooks": [{"type": "A"}, {"type": "B"}]}, {"A": 0, "B": 1}),
        ([{"type": "A"}], {"train.hooks": [{"type": "B"}]}, {"A": 0, "B": 1}),
        ([{"type": "TextLoggerHook"}, {"type": "A"}], {"train.hooks.A.x": 1}, {"A": 1}),
        ([{"type": "A"}], {"train.hooks": [{"type": "IterTimerHook"}]}, {"A": 0, "IterTimerHook": 1}),
    ],
)
def test_a_hook_has_the_number_that_it_has_for_the_user(written: Any, options: Any, numbers: dict[str, int]) -> None:
    """Wherever it is written, its problem is found there: the default hooks come after it."""
    prepared = prepare(Config({"train": {"hooks": written}}), options=options)
    for name, number in numbers.items():
        (at,) = (i for i, hook in enumerate(prepared.config.train.hooks) if hook.type == name)
        problem = Problem(f"train.hooks[{at}].type", "is here")
        assert where_written(problem, prepared.original, prepared.moves).key == f"train.hooks[{number}].type"


def test_preparing_leaves_the_config_as_it_was_and_keeps_what_the_user_wrote() -> None:
    config = Config({"train": {"max_epochs": 1}})
    prepared = prepare(config, options={"train.max_epochs": 2})
    assert config.to_dict() == {"train": {"max_epochs": 1}}
    assert prepared.original.to_dict() == {"train": {"max_epochs": 2}}
    assert prepared.config.train.max_epochs == 2


@pytest.mark.parametrize("kind", [dict, Config])
def test_a_mapping_is_taken_as_it_is_but_not_shared(kind: Any) -> None:
    given = kind({"train": {"max_epochs": 1}})
    loaded = load(given)
    loaded.train.max_epochs = 5
    assert given["train"]["max_epochs"] == 1


@pytest.mark.parametrize("key", ["plugins", "allow_remote"])
def test_code_of_others_needs_trust(key: str) -> None:
    with pytest.raises(RuntimeError, match=f"declares {key}, which run code"):
        refuse_untrusted(Config({key: ["package"]}), trust_remote_code=False)
    refuse_untrusted(Config({key: ["package"]}), trust_remote_code=True)
    refuse_untrusted(Config({key: []}), trust_remote_code=False)
