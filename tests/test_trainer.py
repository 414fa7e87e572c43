"""Runs: what hooks see, training again, evaluating alone and in between, hooks and metrics of the user's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from adapter import ConfigError, Priority, build_trainer
from adapter.lightning.module import TrainingModule
from tests.parity.golden.cases import MapData, TinyNet, sample
from tests.small_runs import BATCHES, Stages, all_logits, at, build, same, settings, weights

EVALUATE = {"evaluation__period": {"interval": 1}}
STAGES = [
    *("after_init", "before_run", "before_train_epoch"),
    *["before_train_iter", "after_train_iter"] * BATCHES,
    *("before_val", "before_val_epoch", *["before_val_iter", "after_val_iter"] * 2, "after_val_epoch", "after_val"),
    *("after_train_epoch", "after_run"),
]  # fmt: skip


# what hooks rely on


def test_every_stage_fires_in_the_documented_order(tmp_path: Path) -> None:
    stages = Stages()
    stages.PRIORITY = Priority.LOWEST
    build(tmp_path, settings(**EVALUATE), callbacks=[stages]).train()
    assert stages.seen == STAGES


AFTER_INIT = {
    "mode": "train", "epoch": 0, "iter": 0, "inner_iter": 0, "max_epochs": 1, "optimizer": None,
    "lr_scheduler": None, "train_dataloader": None, "eval_dataloader": None, "data_loader": None, "data_batch": None,
    "train_outputs": None, "metric_values": None, "metrics": ["seq-cls-metric"], "_stop_training": False,
}  # fmt: skip


@pytest.mark.parametrize(("name", "value"), AFTER_INIT.items())
def test_attributes_of_a_new_trainer(name: str, value: Any, tmp_path: Path) -> None:
    assert getattr(build(tmp_path), name) == value


IN_AN_ITERATION = {
    "mode": lambda t: t.mode == "train",
    "model": lambda t: isinstance(t.model, TinyNet) and t.model.training,
    "optimizer": lambda t: isinstance(t.optimizer, torch.optim.SGD),
    "lr_scheduler": lambda t: isinstance(t.lr_scheduler, torch.optim.lr_scheduler.StepLR),
    "train_dataloader": lambda t: len(t.train_dataloader) == BATCHES,
    "data_loader": lambda t: t.data_loader is t.train_dataloader,
    "data_batch": lambda t: t.data_batch["feat"][0].equal(sample(4 * t.iter)["feat"]),
    "train_outputs": lambda t: set(t.train_outputs) == {"logits", "loss"},
    "log_buffer": lambda t: t.log_buffer.val_history["loss"][-1] == float(t.train_outputs["loss"].detach()),
    "visualization_buffer": lambda t: t.visualization_buffer.output == {},
    "max_iters": lambda t: t.max_iters == BATCHES,
    "iters_per_epoch": lambda t: t.iters_per_epoch == BATCHES,
    "device": lambda t: t.device == torch.device("cpu"),
    "cfg": lambda t: t.cfg.train.optimizer.lr == 0.1,
    "work_dir": lambda t: Path(t.work_dir, f"{t.timestamp}.log").is_file(),
    "logger": lambda t: t.logger.info("a line of the user's") is None,
    "hooks": lambda t: "OptimizerHook" in [type(hook).__name__ for hook in t.hooks],
    "get_hook_info": lambda t: "Stage: after_run" in t.get_hook_info(),
    "is_main_process": lambda t: t.is_main_process,
}


def test_attributes_in_an_iteration(tmp_path: Path) -> None:
    wrong: list[str] = []
    look = at(
        "after_train_iter", lambda t: wrong.extend(name for name, right in IN_AN_ITERATION.items() if not right(t))
    )
    trainer = build(tmp_path, callbacks=[look])
    trainer.train()
    assert trainer.iter == BATCHES
    assert not wrong
    assert "a line of the user's" in Path(trainer.work_dir, f"{trainer.timestamp}.log").read_text()


@pytest.mark.parametrize(
    ("name", "keyword"), [("max_iters", "train"), ("iters_per_epoch", "train"), ("eval_iters", "val")]
)
def test_lengths_are_unknown_before_the_data_are_loaded(name: str, keyword: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"give `{keyword}_iters_per_epoch`"):
        getattr(build(tmp_path), name)


def test_unwrap_module_finds_the_users_model(tmp_path: Path) -> None:
    trainer = build(tmp_path)
    assert trainer.unwrap_module(nn.DataParallel(trainer.model)) is trainer.model
    assert trainer.unwrap_module(torch.compile(trainer.model, backend="eager")) is trainer.model
    assert trainer.unwrap_module(trainer.model) is trainer.model
    assert isinstance(trainer.module, TrainingModule)


def test_the_config_and_the_hook_table_are_logged_once(tmp_path: Path) -> None:
    trainer = build(tmp_path, settings(note="a key of the user's", **EVALUATE), max_epochs=2)
    trainer.train()
    log = Path(trainer.work_dir, f"{trainer.timestamp}.log").read_text()
    assert log.count("note: a key of the user's") == 1
    assert log.count("Stage: before_run:") == 1


# training again


def test_training_again_after_the_end_changes_nothing(tmp_path: Path) -> None:
    stages = Stages()
    trainer = build(tmp_path, callbacks=[stages])
    trainer.train()
    before, hooks = weights(trainer), [type(hook).__name__ for hook in trainer.hooks]
    stages.seen.clear()
    trainer.train()
    assert same(weights(trainer), before)
    assert stages.seen == ["before_run", "after_run"]
    assert [type(hook).__name__ for hook in trainer.hooks] == hooks
    assert (trainer.epoch, trainer.iter) == (1, BATCHES)


def test_training_again_with_more_epochs_goes_on(tmp_path: Path) -> None:
    shuffled = settings(train__dataloader__shuffle=True)
    whole = build(tmp_path, shuffled, max_epochs=2)
    whole.train()
    trainer = build(tmp_path, {**shuffled, "train": {**shuffled["train"], "max_epochs": 1}})
    trainer.train()
    optimizer = trainer.optimizer
    trainer.cfg.train.max_epochs = 2
    trainer.train()
    assert trainer.optimizer is optimizer
    assert (trainer.epoch, trainer.iter) == (2, 2 * BATCHES)
    assert same(weights(trainer), weights(whole))
    assert trainer.optimizer.param_groups[0]["lr"] == whole.optimizer.param_groups[0]["lr"] == 0.025


# starting from weights


@pytest.mark.parametrize("name", ["epoch_1.pth", "epoch_1", "epoch_1_trainer_state.pth", "output/pytorch_model.bin"])
def test_training_starts_from_the_weights_of_a_checkpoint(name: str, tmp_path: Path) -> None:
    first = build(tmp_path)
    first.train()
    start: list[bool] = []
    look = at("before_run", lambda t: start.append(same(weights(t), weights(first))))
    trainer = build(tmp_path / "second", callbacks=[look])
    trainer.train(checkpoint_path=str(tmp_path / "work" / name), load_all_state=False)
    assert start == [True]
    assert (trainer.epoch, trainer.iter) == (1, BATCHES)


@pytest.mark.parametrize("method", ["train", "evaluate"])
def test_a_checkpoint_that_is_not_there_is_named(method: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no checkpoint at '.*absent'"):
        getattr(build(tmp_path), method)(checkpoint_path=str(tmp_path / "absent"))


def test_strict_refuses_weights_that_lack_a_parameter(tmp_path: Path) -> None:
    path = tmp_path / "part.bin"
    torch.save({"head.bias": torch.ones(4)}, path)
    trainer = build(tmp_path)
    trainer.evaluate(checkpoint_path=str(path))
    assert trainer.model.head.bias.equal(torch.ones(4))
    assert "3 parameters are missing from the checkpoint" in next((tmp_path / "work").glob("*.log")).read_text()
    with pytest.raises(ValueError, match=r"hidden\.weight"):
        trainer.evaluate(checkpoint_path=str(path), strict=True)


# evaluation


def accuracy_of(model: nn.Module) -> float:
    model.eval()
    with torch.no_grad():
        right = [logits.argmax() == sample(i)["labels"] for i, logits in enumerate(all_logits(model))]
    return float(sum(right)) / 6


def test_evaluating_alone(tmp_path: Path) -> None:
    stages = Stages()
    trainer = build(tmp_path, callbacks=[stages])
    stages.seen.clear()
    before, batches = weights(trainer), []
    values = trainer.evaluate(saving_fn=lambda inputs, outputs: batches.append((inputs, outputs)))
    assert values["accuracy"] == accuracy_of(trainer.model)
    assert values is trainer.metric_values
    assert list(values) == ["accuracy", "micro-f1", "macro-f1", "f1"]
    assert trainer.mode == "eval"
    assert not trainer.model.training
    assert stages.seen == STAGES[STAGES.index("before_val") : STAGES.index("after_val") + 1]
    assert [set(inputs) for inputs, _ in batches] == [{"feat", "labels"}] * 2
    assert [len(outputs["logits"]) for _, outputs in batches] == [4, 2]
    assert not batches[0][1]["loss"].requires_grad
    assert same(weights(trainer), before)
    assert [path.suffix for path in (tmp_path / "work").iterdir()] == [".log"]


def test_a_saving_fn_is_for_one_evaluation(tmp_path: Path) -> None:
    batches: list[Any] = []
    trainer = build(tmp_path)
    trainer.evaluate(saving_fn=lambda inputs, outputs: batches.append(inputs))
    trainer.evaluate()
    assert len(batches) == 2


def test_predict_hands_over_every_batch_and_leaves_the_evaluation_as_it_was(tmp_path: Path) -> None:
    trainer = build(tmp_path)
    values = trainer.evaluate()
    loader, sizes = trainer.eval_dataloader, []
    assert trainer.predict(MapData(9), lambda inputs, outputs: sizes.append(len(outputs["logits"]))) is None
    assert sizes == [4, 4, 1]
    assert trainer.metric_values is values
    assert trainer.eval_dataloader is loader


@pytest.mark.parametrize("cumulative", [1, BATCHES])
def test_evaluating_in_between_leaves_training_as_it_was(cumulative: int, tmp_path: Path) -> None:
    """Not even gradients that are being accumulated are touched."""
    seen: list[tuple[float, float]] = []

    def look(trainer: Any) -> None:
        if trainer.iter == 1:
            seen.append((trainer.evaluate()["accuracy"], accuracy_of(trainer.model)))

    config = settings(train__optimizer__options={"cumulative_iters": cumulative})
    plain, looking = build(tmp_path, config), build(tmp_path, config, callbacks=[at("after_train_iter", look)])
    for trainer in (plain, looking):
        trainer.train()
    assert same(weights(looking), weights(plain))
    assert seen == [(looking.metric_values["accuracy"], looking.metric_values["accuracy"])]


@pytest.mark.parametrize("by_epoch", [True, False])
def test_mode_stays_eval_from_an_evaluation_to_the_next_iteration(by_epoch: bool, tmp_path: Path) -> None:
    seen: list[str] = []
    config = settings(evaluation__period={"interval": 1, "by_epoch": by_epoch})
    stage = "after_train_epoch" if by_epoch else "after_train_iter"
    hooks = [
        at("before_train_iter", lambda t: seen.append(t.mode), Priority.HIGHEST),
        at(stage, lambda t: seen.append(t.mode), Priority.HIGHEST),
        at(stage, lambda t: seen.append(t.mode), Priority.LOWEST),
    ]
    build(tmp_path, config, callbacks=hooks, train_iters_per_epoch=2).train()
    assert seen == (["train", "train", "train", "eval"] if by_epoch else ["train", "train", "eval"] * 2)


# build_trainer


def test_build_trainer_makes_a_registered_one(tmp_path: Path) -> None:
    path = tmp_path / "configuration.json"
    path.write_text(json.dumps(settings()))
    arguments = {"cfg_file": str(path), "model": TinyNet(), "work_dir": str(tmp_path / "work"), "seed": 3}
    trainer = build_trainer(default_args=arguments)
    assert (type(trainer).__name__, trainer._seed, trainer.cfg.filename) == ("EpochBasedTrainer", 3, str(path))
    with pytest.raises(ConfigError, match=r"unknown trainer 'trainr'\. Did you mean 'trainer'\?"):
        build_trainer("trainr", arguments)


@pytest.mark.parametrize(("key", "value"), [("plugins", ["json"]), ("allow_remote", True)])
def test_build_trainer_refuses_what_runs_code_of_others(key: str, value: Any, tmp_path: Path) -> None:
    path = tmp_path / "configuration.json"
    path.write_text(json.dumps(settings(**{key: value})))
    arguments = {"cfg_file": str(path), "model": TinyNet(), "work_dir": str(tmp_path / "work")}
    with pytest.raises(RuntimeError, match=f"declares {key}.*trust_remote_code=True"):
        build_trainer(default_args=arguments)
    assert not (tmp_path / "work").exists()
    assert build_trainer(default_args={**arguments, "trust_remote_code": True}).cfg[key] == value
