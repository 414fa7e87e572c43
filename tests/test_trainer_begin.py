"""What is refused, logged and written when a trainer is made, and what when training or an evaluation begins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adapter import ConfigError, EpochBasedTrainer
from tests.parity.golden.cases import MapData
from tests.small_runs import BATCHES, at, build, settings

EVALUATE = {"evaluation__period": {"interval": 1}}


def log_of(trainer: EpochBasedTrainer) -> str:
    """The text of a run's log file."""
    return Path(trainer.work_dir, f"{trainer.timestamp}.log").read_text()


@pytest.mark.parametrize("begin", ["train", "evaluate"])
def test_nothing_is_written_until_a_run_begins(begin: str, tmp_path: Path) -> None:
    trainer = build(tmp_path, settings(train__hooks=[{"type": "EvaluationHook"}], train__max_epoch=7), max_epoch=3)
    assert list(tmp_path.iterdir()) == []
    getattr(trainer, begin)()
    log = log_of(trainer)
    for text in (
        "config: train.hooks[0] moved to evaluation.period",
        "WARNING - keyword 'max_epoch' is not known to the trainer and has no effect; did you mean 'max_epochs'?",
        "WARNING - nothing reads train.max_epoch (",
        "Training Config\ntask: image-classification",
        "Stage: after_train_epoch:",
    ):
        assert log.count(text) == 1, text
    assert ("Stage: before_run:\n    (ABOVE_NORMAL) OptimizerHook" in log) is (begin == "train")


def test_predicting_begins_a_run_too(tmp_path: Path) -> None:
    trainer = build(tmp_path)
    trainer.predict(MapData(3), lambda inputs, outputs: None)
    trainer.evaluate()
    assert log_of(trainer).count("Training Config") == 1


@pytest.mark.parametrize(
    ("name", "nearest"), [("callback", "callbacks"), ("sampler", "samplers"), ("optimizer", "optimizers"), ("zzz", "")]
)
def test_the_arguments_of_the_constructor_are_near_names_too(name: str, nearest: str, tmp_path: Path) -> None:
    trainer = build(tmp_path, **{name: 1})
    trainer.evaluate()
    hint = f"; did you mean '{nearest}'?" if nearest else ""
    (line,) = [line for line in log_of(trainer).splitlines() if "keyword '" in line]
    assert line.endswith(f"WARNING - keyword '{name}' is not known to the trainer and has no effect{hint}")


def test_a_path_object_is_a_work_dir(tmp_path: Path) -> None:
    trainer = build(tmp_path, work_dir=tmp_path / "mine")
    assert (trainer.work_dir, trainer.cfg.train.work_dir) == (str(tmp_path / "mine"),) * 2
    trainer.train()
    assert (tmp_path / "mine" / "epoch_1.pth").is_file()


def test_a_work_dir_in_whose_place_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(ConfigError, match=r"train\.work_dir: .*'.*notes' is not a folder"):
        build(tmp_path, work_dir=str(tmp_path / "notes" / "run"))
    assert (tmp_path / "notes").read_text() == "mine"


# data that make no batch


@pytest.mark.parametrize(
    ("samples", "loader", "found"),
    [
        (0, {"batch_size_per_gpu": 4}, "0 samples make no batch of 4"),
        (3, {"batch_size_per_gpu": 4, "drop_last": True}, "3 samples make no batch of 4 with drop_last"),
    ],
)
def test_training_data_that_make_no_batch_are_refused(
    samples: int, loader: dict[str, Any], found: str, tmp_path: Path
) -> None:
    loader = {"workers_per_gpu": 0, "shuffle": False, **loader}
    trainer = build(tmp_path, settings(train__dataloader=loader), train_dataset=MapData(samples))
    with pytest.raises(ConfigError) as caught:
        trainer.train()
    assert [(problem.key, problem.found) for problem in caught.value.problems] == [("train.dataloader", found)]
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize("begin", ["train", "evaluate"])
def test_evaluation_data_that_make_no_batch_are_refused_before_anything_is_written(begin: str, tmp_path: Path) -> None:
    trainer = build(tmp_path, settings(**EVALUATE), eval_dataset=MapData(0))
    with pytest.raises(ConfigError, match=r"evaluation\.dataloader: 0 samples make no batch of 4"):
        getattr(trainer, begin)()
    assert not (tmp_path / "work").exists()


def test_a_batch_that_is_not_full_is_enough(tmp_path: Path) -> None:
    trainer = build(tmp_path, train_dataset=MapData(3))
    trainer.train()
    assert trainer.iter == 1


def test_evaluation_data_that_are_not_there_are_missed_before_training(tmp_path: Path) -> None:
    stages: list[str] = []
    trainer = build(tmp_path, callbacks=[at("before_run", lambda t: stages.append("before_run"))], eval_dataset=None)
    with pytest.raises(ConfigError, match=r"dataset\.val: there is no data set"):
        trainer.evaluate()
    with pytest.raises(ConfigError, match=r"dataset\.val: there is no data set"):
        build(tmp_path, settings(**EVALUATE), eval_dataset=None).train()
    assert not (tmp_path / "work").exists()
    trainer.train()  # which evaluates nothing
    assert (stages, trainer.iter) == (["before_run"], BATCHES)


# arguments of lightning.Trainer that the hooks decide


@pytest.mark.parametrize(
    ("argument", "value", "instead"),
    [
        ("accumulate_grad_batches", 2, "train.optimizer.options.cumulative_iters"),
        ("gradient_clip_val", 0.5, "train.optimizer.options.grad_clip"),
        ("gradient_clip_algorithm", "norm", "train.optimizer.options.grad_clip"),
        ("val_check_interval", 5, "evaluation.period"),
        ("check_val_every_n_epoch", 2, "evaluation.period"),
        ("num_sanity_val_steps", 2, "evaluation.period"),
        ("barebones", True, "the default"),
    ],
)
def test_what_hooks_decide_is_refused_as_an_argument_of_lightning(
    argument: str, value: Any, instead: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError) as caught:
        build(tmp_path, trainer_args={argument: value})
    (problem,) = caught.value.problems
    assert problem.key == f"trainer.{argument}"
    assert problem.fix.startswith(f"use {instead}")
    assert list(tmp_path.iterdir()) == []


def test_every_such_argument_is_reported_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        build(tmp_path, trainer_args={"gradient_clip_val": 1.0, "val_check_interval": 5, "barebones": None})
    assert [problem.key for problem in caught.value.problems] == [
        "trainer.gradient_clip_val",
        "trainer.val_check_interval",
    ]
