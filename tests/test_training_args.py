from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import pytest

from adapter import Config, TrainingArgs
from adapter.config.paths import leaves
from tests.small_runs import build, losses, settings

NODES = {
    "task": (["task"], "nli"),
    "model_type": (["model.type"], "mlp-classifier"),
    "preprocessor_type": (["preprocessor.type"], "steps"),
    "first_sequence": (["dataset.train.first_sequence", "dataset.val.first_sequence"], "a"),
    "second_sequence": (["dataset.train.second_sequence", "dataset.val.second_sequence"], "b"),
    "label": (["dataset.train.label", "dataset.val.label"], "y"),
    "per_device_train_batch_size": (["train.dataloader.batch_size_per_gpu"], 3),
    "train_data_worker": (["train.dataloader.workers_per_gpu"], 3),
    "train_shuffle": (["train.dataloader.shuffle"], True),
    "train_drop_last": (["train.dataloader.drop_last"], True),
    "per_device_eval_batch_size": (["evaluation.dataloader.batch_size_per_gpu"], 3),
    "eval_data_worker": (["evaluation.dataloader.workers_per_gpu"], 3),
    "eval_shuffle": (["evaluation.dataloader.shuffle"], True),
    "eval_drop_last": (["evaluation.dataloader.drop_last"], True),
    "max_epochs": (["train.max_epochs"], 3),
    "work_dir": (["train.work_dir"], "here"),
    "lr": (["train.optimizer.lr"], 0.3),
    "lr_scheduler": (["train.lr_scheduler.type"], "StepLR"),
    "optimizer": (["train.optimizer.type"], "SGD"),
    "lr_strategy": (["train.lr_scheduler.options.lr_strategy"], "by_step"),
    "logging_interval": (["train.logging.interval"], 3),
    "eval_strategy": (["evaluation.period.eval_strategy"], "by_step"),
    "eval_interval": (["evaluation.period.interval"], 3),
    "save_strategy": (["train.checkpoint.period.save_strategy"], "by_step"),
    "save_interval": (["train.checkpoint.period.interval"], 3),
    "save_best_checkpoint": (["train.checkpoint.best.save_best"], True),
    "metric_for_best_model": (["train.checkpoint.best.metric_key"], "f1"),
    "max_checkpoint_num": (["train.checkpoint.period.max_checkpoint_num"], 3),
    "push_to_hub": (["train.checkpoint.period.push_to_hub"], True),
    "repo_id": (["train.checkpoint.period.hub_repo_id"], "a/b"),
    "hub_token": (["train.checkpoint.period.hub_token"], "t"),
    "private_hub": (["train.checkpoint.period.private_hub"], False),
    "hub_revision": (["train.checkpoint.period.hub_revision"], "dev"),
}
BEST_NODES = {
    "metric_rule_for_best_model": ("rule", "min"),
    "max_checkpoint_num_best": ("max_checkpoint_num", 3),
    "push_to_hub_best": ("push_to_hub", True),
    "repo_id_best": ("hub_repo_id", "a/b"),
    "hub_token_best": ("hub_token", "t"),
    "private_hub_best": ("private_hub", False),
    "hub_revision_best": ("hub_revision", "dev"),
}
LISTS = ["labels", "eval_metrics", "optimizer_params", "lr_scheduler_params"]
IN_CODE = [
    *("model", "model_revision", "seed", "local_rank", "train_dataset_name", "val_dataset_name", "train_subset_name"),
    *("val_subset_name", "train_split", "val_split", "train_dataset_namespace", "val_dataset_namespace"),
    *("dataset_json_file", "use_model_config"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "nodes", "value"), [(name, *row) for name, row in NODES.items()])
def test_a_field_that_is_given_sets_its_keys_and_no_other(name: str, nodes: list[str], value: Any) -> None:
    for made in (TrainingArgs(**{name: value}), TrainingArgs().parse_cli([f"--{name}", str(value)])):
        assert dict(leaves(made(Config({"kept": 1})))) == {"kept": 1, **dict.fromkeys(nodes, value)}


@pytest.mark.parametrize(("name", "key", "value"), [(name, *row) for name, row in BEST_NODES.items()])
def test_fields_of_the_best_checkpoint_need_one(name: str, key: str, value: Any) -> None:
    with_best = TrainingArgs(save_best_checkpoint=True, **{name: value})(Config())
    assert with_best.train.checkpoint.best == {"save_best": True, key: value}
    assert TrainingArgs(save_best_checkpoint=False, **{name: value})(Config()) == {}


def test_every_field_has_a_key_or_is_for_code() -> None:
    assert sorted([*NODES, *BEST_NODES, *LISTS, *IN_CODE]) == sorted(item.name for item in fields(TrainingArgs))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"labels": "0, 1"}, {"dataset": {"train": {"labels": ["0", "1"]}}}),
        ({"eval_metrics": "a,b"}, {"evaluation": {"metrics": ["a", "b"]}}),
        ({"eval_metrics": ["a"]}, {"evaluation": {"metrics": ["a"]}}),
        (
            {"optimizer_params": "momentum=0.9,nesterov=true,betas=[0.9, 1e-1]"},
            {"train": {"optimizer": {"momentum": 0.9, "nesterov": True, "betas": [0.9, 0.1]}}},
        ),
        ({"optimizer_params": {"momentum": 0.9}}, {"train": {"optimizer": {"momentum": 0.9}}}),
        ({"lr_scheduler_params": "total_iters=3"}, {"train": {"lr_scheduler": {"total_iters": 3}}}),
        ({"lr": None}, {"train": {"optimizer": {"lr": None}}}),
    ],
)
def test_lists_and_parameters(given: dict[str, Any], expected: dict[str, Any]) -> None:
    assert TrainingArgs(**given)(Config()) == expected


def test_parameters_are_added_to_those_of_the_config() -> None:
    config = Config({"train": {"optimizer": {"type": "SGD", "lr": 1}}})
    TrainingArgs(optimizer_params="momentum=0.5")(config)
    assert config.train.optimizer == {"type": "SGD", "lr": 1, "momentum": 0.5}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"lr_scheduler": "LinearLR"}, {"type": "LinearLR"}),
        ({"lr_scheduler": "StepLR"}, {"type": "StepLR", "step_size": 2}),
        ({"lr_scheduler": "LinearLR", "lr_scheduler_params": "total_iters=3"}, {"type": "LinearLR", "total_iters": 3}),
        ({"lr_scheduler_params": "gamma=0.5"}, {"type": "StepLR", "step_size": 2, "gamma": 0.5}),
    ],
)
def test_another_schedule_takes_the_place_of_the_config_s(given: dict[str, Any], expected: dict[str, Any]) -> None:
    options = {"lr_strategy": "by_step"}
    config = Config({"train": {"lr_scheduler": {"type": "StepLR", "step_size": 2, "options": options}}})
    assert TrainingArgs(**given)(config).train.lr_scheduler == {**expected, "options": options}


def test_it_changes_the_config_of_a_trainer_in_either_spelling(tmp_path: Path) -> None:
    listed = settings(train__hooks=[{"type": "CheckpointHook", "interval": 9}, {"type": "EvaluationHook"}])
    args = TrainingArgs(max_epochs=2, lr=0.25, save_strategy="by_step", save_interval=2, metric_for_best_model="f1")
    trainer = build(tmp_path, listed, cfg_modify_fn=args)
    assert (trainer.max_epochs, trainer.plan.optimizer.args["lr"]) == (2, 0.25)
    trainer.train()
    names = {path.stem for path in (tmp_path / "work").glob("*.pth")}
    assert {"iter_2", "iter_4", "iter_6"} < names
    assert any(name.startswith("best_epoch") for name in names)


def test_it_takes_what_is_set_afterwards(tmp_path: Path) -> None:
    args = TrainingArgs()
    args.lr = 0.25
    assert losses(tmp_path, cfg_modify_fn=args) == losses(tmp_path, settings(train__optimizer__lr=0.25))


def test_to_config_trains_on_its_own(tmp_path: Path) -> None:
    args = TrainingArgs(
        task="text-classification", max_epochs=1, optimizer="SGD", lr=0.5, work_dir=str(tmp_path / "own")
    )
    config, extras = args.to_config()
    assert sorted(extras) == sorted(IN_CODE)
    assert config.train.lr_scheduler == {"type": "LinearLR", "options": {"lr_strategy": "by_epoch"}}
    trainer = build(tmp_path, config, work_dir=None)
    trainer.train()
    assert trainer.metric_values["accuracy"] >= 0
    assert (tmp_path / "own" / "epoch_1.pth").is_file()


def test_to_config_may_leave_the_rest_to_the_models_config() -> None:
    assert TrainingArgs(lr=0.3, use_model_config=True).to_config()[0] == {"train": {"optimizer": {"lr": 0.3}}}
    assert TrainingArgs(lr=0.3).to_config(ignore_default_config=True)[0] == {"train": {"optimizer": {"lr": 0.3}}}
    assert TrainingArgs(use_model_config=True).to_config(ignore_default_config=False)[0].train.max_epochs == 5


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--max-epochs 3 --lr=1e-3", {"train": {"max_epochs": 3, "optimizer": {"lr": 0.001}}}),
        ("--train_shuffle --eval_shuffle false", None),
        ("--train.optimizer.momentum 0.9", {"train": {"optimizer": {"momentum": 0.9}}}),
        ("--optimizer_params a=1,b=x", {"train": {"optimizer": {"a": 1, "b": "x"}}}),
    ],
)
def test_the_command_line(words: str, expected: dict[str, Any] | None) -> None:
    args = TrainingArgs()
    assert args.parse_cli(words.split()) is args
    assert args(Config()) == expected or (args.train_shuffle, args.eval_shuffle) == (True, False)


def test_the_command_line_wins_over_the_constructor() -> None:
    assert TrainingArgs(lr=0.5, max_epochs=4).parse_cli(["--lr", "0.1"])(Config()) == {
        "train": {"max_epochs": 4, "optimizer": {"lr": 0.1}}
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--lr x", "invalid float value"),
        ("--lr_strategy weekly", "invalid choice: 'weekly'"),
        ("--train_shuffle perhaps", "found 'perhaps', allowed: true or false"),
        ("--max_epoch 3", "unknown argument '--max_epoch'; did you mean '--max_epochs'?"),
    ],
)
def test_a_wrong_command_line_ends_with_status_2(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        TrainingArgs().parse_cli(words.split())
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(TypeError, match="TrainingArgs has no field 'max_epoch'; did you mean 'max_epochs'"):
        TrainingArgs(max_epoch=3)


@dataclass(init=False)
class Own(TrainingArgs):
    size: int = field(default=1, metadata={"cfg_node": ["model.size", "preprocessor.size"], "help": "A size."})
    words: str | None = field(default=None, metadata={"cfg_node": "model.words", "cfg_setter": str.split})
    note: str = "none"


@dataclass
class OwnConstructor(TrainingArgs):
    size: int = field(default=1, metadata={"cfg_node": ["model.size", "preprocessor.size"]})


def test_a_subclass_adds_fields() -> None:
    sized = {"model": {"size": 3}, "preprocessor": {"size": 3}}
    assert Own(size=3)(Config()) == OwnConstructor(size=3)(Config()) == sized
    args = Own(words="a b").parse_cli(["--size", "4", "--note", "x"])
    assert args(Config()) == {"model": {"size": 4, "words": ["a", "b"]}, "preprocessor": {"size": 4}}
    assert args.to_config()[1]["note"] == "x"
    assert args.get_metadata("size").metadata["help"] == "A size."


@pytest.mark.parametrize(
    "words", [["--local-rank=1"], ["--local_rank=1"], ["--local-rank", "1"], ["--local_rank", "1"]]
)
def test_a_launcher_s_number_is_taken_and_changes_nothing(words: list[str]) -> None:
    args = TrainingArgs().parse_cli(words)
    assert args.local_rank == 1
    assert args(Config({"train": {}})) == Config({"train": {}})
