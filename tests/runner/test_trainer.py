"""Whole runs: resuming, evaluating only, iterations in place of epochs, LAVIS's data sets, hooks and callbacks."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest
import torch

from adapter import ConfigError, Hook, build_trainer, pipeline
from adapter.runner import BaseDataset, BaseTask, registry
from adapter.runner.trainer import RunTrainer
from tests.runner import tiny
from tests.runner.tiny import config, fit, log_of, saved, weights

LEFT_OVER = {"accum_grad_iters": 2, "lr_sched": "linear_warmup_cosine_lr", "warmup_steps": 5, "warmup_lr": 0.001}
NOISE = {"dataset__train_cfg__noise": 0.1, "model__dropout": 0.3}  # draws random numbers in data and model


class Stop(Hook):
    """Sends this process a signal in one iteration, as somebody at the terminal would."""

    def __init__(self, at: int) -> None:
        self.at = at

    def after_train_iter(self, trainer: Any) -> None:
        if trainer.iter == self.at:
            os.kill(os.getpid(), signal.SIGTERM)


class Begins(Hook):
    """Notes where each run began."""

    seen: list[int] = []

    def before_run(self, trainer: Any) -> None:
        self.begun = False

    def before_train_iter(self, trainer: Any) -> None:
        if not self.begun:
            self.begun = True
            self.seen.append(trainer.iter)


STOP = "tests.runner.test_trainer.Stop"
BEGINS = {"type": "tests.runner.test_trainer.Begins"}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A run that was never stopped, with accumulation that does not fit the epoch, dropout and noise."""
    return fit(tmp_path_factory.mktemp("whole"), **LEFT_OVER, **NOISE)


@pytest.mark.parametrize(("at", "workers"), [(0, 0), (12, 0), (17, 0), (26, 0), (12, 2)])
def test_an_interrupted_run_goes_on_as_if_never_stopped(at: int, workers: int, whole: Any, tmp_path: Path) -> None:
    if workers:
        whole = fit(tmp_path / "", **LEFT_OVER, **NOISE, num_worker=workers)
    with pytest.raises(SystemExit):
        fit(tmp_path, **LEFT_OVER, **NOISE, num_worker=workers, hooks=[{"type": STOP, "at": at}])
    after = fit(tmp_path, resume="last", **LEFT_OVER, **NOISE, num_worker=workers, hooks=[BEGINS])
    assert Begins.seen[-1] == at + 1
    assert list(weights(after)) == list(weights(whole))
    assert log_of(after) == log_of(whole)[-len(log_of(after)) :]
    best = saved(whole, "checkpoint_best")
    assert saved(after, "checkpoint_best")["epoch"] == best["epoch"]
    assert (
        saved(after, "checkpoint_3")["adapter"]["adapter"]["hooks"]
        == saved(whole, "checkpoint_3")["adapter"]["adapter"]["hooks"]
    )


@pytest.mark.parametrize("epoch", [0, 1, 2])
def test_a_run_goes_on_from_the_end_of_an_epoch(epoch: int, whole: Any, tmp_path: Path) -> None:
    path = Path(whole.work_dir, f"checkpoint_{epoch}.pth")
    after = fit(tmp_path, resume_ckpt_path=str(path), **LEFT_OVER, **NOISE)
    assert list(weights(after)) == list(weights(whole))
    assert log_of(after) == log_of(whole)[-len(log_of(after)) :]
    assert len(log_of(after)) == 2 * (3 - epoch)
    names = sorted(each.name for each in Path(after.work_dir).iterdir())
    later = [f"checkpoint_{number}.pth" for number in range(epoch + 1, 4)]
    assert names == [*later, "checkpoint_best.pth", "log.txt", "result"]


def test_a_finished_run_goes_on_to_nothing(whole: Any, tmp_path: Path) -> None:
    after = fit(tmp_path, resume=str(Path(whole.work_dir, "checkpoint_3.pth")), **LEFT_OVER, **NOISE)
    assert list(weights(after)) == list(weights(whole))
    assert log_of(after) == []


def test_a_file_of_the_source_project_goes_on_at_the_epoch_s_end(tmp_path: Path) -> None:
    first = fit(tmp_path / "", max_epoch=2)
    theirs = {key: value for key, value in saved(first, "checkpoint_1").items() if key != "adapter"}
    torch.save(theirs, tmp_path / "theirs.pth")
    after = fit(tmp_path, resume_ckpt_path=str(tmp_path / "theirs.pth"))
    assert len(log_of(after)) == 4
    assert (after.epoch, after.iter) == (4, 36)
    steps = {state["step"].item() for state in saved(after, "checkpoint_3")["optimizer"]["state"].values()}
    assert steps == {36}


def test_frozen_parameters_are_not_saved_and_need_not_be_there(tmp_path: Path) -> None:
    first = fit(tmp_path, model__frozen=True, max_epoch=1)
    assert list(saved(first, "checkpoint_0")["model"]) == ["seen", "head.weight", "head.bias"]
    after = fit(tmp_path, model__frozen=True, max_epoch=2, resume="last")
    assert after.epoch == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"del": "head.bias"}, r"it lacks head\.bias"),
        ({"add": "neck.bias"}, r"it holds, but the model does not have neck\.bias"),
        ({"shape": "head.bias"}, r"head\.bias"),
    ],
)
def test_weights_that_do_not_fit_are_an_error_that_names_them(
    change: dict[str, str], said: str, whole: Any, tmp_path: Path
) -> None:
    found = saved(whole, "checkpoint_0")
    ((what, name),) = change.items()
    if what == "del":
        del found["model"][name]
    else:
        found["model"][name] = torch.zeros(3)
    torch.save(found, tmp_path / "other.pth")
    with pytest.raises(ValueError, match=said):
        fit(tmp_path, resume=str(tmp_path / "other.pth"), **LEFT_OVER, **NOISE)


def test_a_checkpoint_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"run\.resume_ckpt_path: no checkpoint at 'nowhere\.pth'"):
        fit(tmp_path, resume_ckpt_path="nowhere.pth")
    with pytest.raises(ConfigError, match="--resume: no checkpoint"):
        fit(tmp_path, resume="last")
    assert not list(tmp_path.glob("out/*"))


def test_the_best_of_negative_values_is_saved_and_survives(tmp_path: Path) -> None:
    first = fit(tmp_path, task="tiny_negative", max_epoch=2)
    lines = [row for row in log_of(first) if "val_agg_metrics" in row]
    assert saved(first, "checkpoint_best")["epoch"] == lines[-1]["val_best_epoch"]
    state = saved(first, "checkpoint_1")["adapter"]["adapter"]["hooks"]["RunCheckpointHook-0"]
    assert state["best_metric"] == max(row["val_agg_metrics"] for row in lines) < 0


def test_a_task_without_an_evaluation_only_saves(tmp_path: Path) -> None:
    trainer = fit(tmp_path, task="tiny_unjudged", max_epoch=3, save_freq=2)
    assert [list(row) for row in log_of(trainer)] == [["train_lr", "train_loss"]] * 3
    assert sorted(each.name for each in Path(trainer.work_dir).glob("*.pth")) == [
        "checkpoint_0.pth",
        "checkpoint_2.pth",
    ]


def test_only_evaluates(whole: Any, tmp_path: Path) -> None:
    best = str(Path(whole.work_dir, "checkpoint_best.pth"))
    trainer = fit(tmp_path, evaluate=True, resume_ckpt_path=best)
    (line,) = log_of(trainer)
    assert line["val_ACC"] == max(row.get("val_ACC", 0) for row in log_of(whole))
    assert sorted(each.name for each in Path(trainer.work_dir).iterdir()) == ["log.txt", "result"]
    given = tiny.request(tmp_path, config(tmp_path))
    assert pipeline.validate(given, best)["ACC"] == line["val_ACC"]


def test_iterations_in_place_of_epochs(tmp_path: Path) -> None:
    """25 iterations, 10 a time, over data that have 9: the order goes on where it ended, also after a stop."""
    counted = {"runner": "runner_iter", "max_iters": 25, "iters_per_inner_epoch": 10, "max_epoch": None}
    whole = fit(tmp_path / "", **counted)
    assert (whole.epoch, whole.iter) == (3, 30)
    with pytest.raises(SystemExit):
        fit(tmp_path, **counted, hooks=[{"type": STOP, "at": 13}])
    assert list(weights(fit(tmp_path, resume="last", **counted, hooks=[BEGINS]))) == list(weights(whole))
    assert Begins.seen[-1] == 14


@registry.register_dataset("by_split")
class BySplit(BaseDataset):
    """Has a split, and processors under LAVIS's names."""

    def __init__(self, split: str, vis_processor: Any, text_processor: Any, n: int) -> None:
        super().__init__()
        self.split, self.vis_processor, self.text_processor, self.n = split, vis_processor, text_processor, n

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, i: int) -> dict[str, Any]:
        return self.text_processor(tiny.sample(i))


def test_data_sets_of_lavis_and_the_test_split(tmp_path: Path) -> None:
    given = config(tmp_path, max_epoch=2, valid_splits=["val"], test_splits=["test"], train_splits=["train"])
    del given["dataset"]
    eval_processor = {"vis_processor": {"eval": {"name": "image_eval_processor", "image_size": 8}}}
    given["datasets"] = {
        "by_split": {"n": 12, "text_processor": {"train": None}, **eval_processor},
        "map_data": {"n": 12, "sample_ratio": 3},
    }
    trainer: Any = pipeline.fit(tiny.request(tmp_path, given))
    assert trainer.iters_per_epoch == 6
    assert [part.split for part in (trainer.datasets[split].datasets[0] for split in trainer.datasets)] == [
        "train",
        "val",
        "test",
    ]
    assert trainer.datasets["train"].datasets[0].vis_processor("as it is") == "as it is"
    assert hasattr(trainer.datasets["val"].datasets[0].vis_processor.transform, "transforms")
    assert [next(iter(row)) for row in log_of(trainer)] == [
        *["train_lr", "val_agg_metrics"] * 2,
        "test_agg_metrics",
    ]


def test_hooks_and_callbacks_of_the_user(tmp_path: Path) -> None:
    hooks = [
        {"type": "EarlyStopHook", "metric_key": "agg_metrics", "patience": 1},
        {"type": "LambdaCallback"},
        {"type": "lightning.pytorch.callbacks.Timer"},
    ]
    trainer = fit(tmp_path, hooks=hooks)
    assert {type(callback).__name__ for callback in trainer.trainer_args["callbacks"]} == {"LambdaCallback", "Timer"}
    assert trainer.epoch < 4
    assert "EarlyStopHook" in trainer.get_hook_info()


@registry.register_task("tiny_own_loop")
class OwnEvaluation(tiny.Task):
    """Goes through the evaluation data itself, as older projects do."""

    def evaluation(self, model: Any, data_loader: Any, cuda_enabled: bool = True) -> list[Any]:
        assert not model.training
        assert not torch.is_grad_enabled()
        return [result for samples in data_loader for result in self.valid_step(model, samples)]


@registry.register_task("tiny_own_training")
class OwnTraining(BaseTask):
    def train_epoch(self, **kwargs: Any) -> None:
        """A loop that nothing here runs."""


@registry.register_task("tiny_without_agg")
class WithoutAgg(BaseTask):
    def after_evaluation(self, val_result: Any, **kwargs: Any) -> dict[str, Any]:
        return {"acc": 1.0}


def test_a_task_with_an_evaluation_of_its_own(tmp_path: Path) -> None:
    plain, own = (log_of(fit(tmp_path / "", max_epoch=1, task=task)) for task in ("tiny_cls", "tiny_own_loop"))
    assert own == plain


class Stages(Hook):
    """Notes the stages of evaluations."""

    seen: list[str] = []

    def before_val(self, trainer: Any) -> None:
        self.seen.append("before_val")

    def after_val_epoch(self, trainer: Any) -> None:
        self.seen.append("after_val_epoch")

    def after_val(self, trainer: Any) -> None:
        self.seen.append("after_val")


def test_a_loop_of_its_own_has_the_stages_and_hands_over_no_batches(tmp_path: Path) -> None:
    Stages.seen.clear()
    trainer = RunTrainer(config(tmp_path, task="tiny_own_loop"), callbacks=[Stages()])
    assert trainer.evaluate()["ACC"] >= 0
    assert Stages.seen == ["before_val", "after_val_epoch", "after_val"]
    with pytest.raises(ConfigError, match="saving_fn: OwnEvaluation has an evaluation loop of its own"):
        trainer.evaluate(saving_fn=print)


@registry.register_task("tiny_failing")
class Failing(tiny.Task):
    def valid_step(self, model: Any, samples: Any) -> Any:
        raise RuntimeError("no more")


@pytest.mark.parametrize(("changes", "said"), [({"task": "tiny_failing"}, "no more"), ({}, "dataloader")])
def test_an_evaluation_that_fails_leaves_the_trainer_as_it_was(
    changes: dict[str, Any], said: str, tmp_path: Path
) -> None:
    splits = {"valid_splits": ["dev", "val"], "dataset__dev_cfg": {"name": "map_data", "n": 6 if changes else 0}}
    trainer = RunTrainer(config(tmp_path, **splits, **changes))
    collator = trainer.eval_data_collator
    trainer.model.train()
    with pytest.raises(Exception, match=said):
        trainer.evaluate()
    assert trainer.model.training
    assert trainer.eval_data_collator == collator == trainer.datasets["val"].collator


def test_changes_in_code_reach_every_part_of_a_run(tmp_path: Path) -> None:
    def shorter(cfg: Any) -> None:
        cfg.run.max_epoch, cfg.model.head_scale = 2, 3.0

    trainer = build_trainer(default_args={"cfg_file": config(tmp_path), "cfg_modify_fn": shorter})
    assert (trainer.max_epochs, trainer.run.max_epoch, trainer.model.head_scale) == (2, 2, 3.0)


def test_every_split_is_told(tmp_path: Path) -> None:
    splits = {"valid_splits": ["dev", "val"], "dataset__dev_cfg": {"name": "map_data", "n": 6}}
    trainer = fit(tmp_path, max_epoch=1, **splits)
    assert list(trainer.evaluate()) == ["agg_metrics", "ACC", "dev_agg_metrics", "dev_ACC"]


def test_tasks_that_cannot_be_run_are_told_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"run\.task: OwnTraining has a training loop of its own \(train_epoch\)"):
        fit(tmp_path, task="tiny_own_training")
    with pytest.raises(ValueError, match=r"WithoutAgg\.after_evaluation must return a mapping with 'agg_metrics'"):
        fit(tmp_path, task="tiny_without_agg")


def test_the_seed_is_the_config_s_unless_another_is_given(tmp_path: Path) -> None:
    seeds = [
        pipeline.build(tiny.request(tmp_path, config(tmp_path, **changes), **more))._seed
        for changes, more in (({}, {}), ({"seed": 7}, {}), ({"seed": 7}, {"seed": 8}))
    ]
    assert seeds == [42, 7, 8]


def test_a_long_warmup_is_reported_and_can_go_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    import logging

    logging.getLogger("adapter").addHandler(caplog.handler)
    try:
        cut = fit(tmp_path, warmup_steps=12, warmup_lr=0.0, max_epoch=2)
        assert "the warmup has 12 steps, but the first epoch only 9" in caplog.text
        caplog.clear()
        on = fit(tmp_path, warmup_steps=12, warmup_lr=0.0, max_epoch=2, warmup_scope="global")
        assert "the warmup has" not in caplog.text
    finally:
        logging.getLogger("adapter").removeHandler(caplog.handler)
    rates = [float(row["train_lr"]) for row in log_of(cut)[::2]], [float(row["train_lr"]) for row in log_of(on)[::2]]
    assert rates[0] == [pytest.approx(0.05 * 4 / 12, abs=1e-6), 0.05]
    assert rates[1][1] == pytest.approx(0.05 * (9 + 10 + 11 + 12 * 6) / 12 / 9, abs=1e-6)


def test_overrides_and_deepspeed_values(tmp_path: Path) -> None:
    trainer = fit(tmp_path, overrides={"run.max_epoch": 1, "model.head_scale": 2.0})
    assert (trainer.max_epochs, trainer.run_config["model"]["head_scale"]) == (1, 2.0)
    assert [group["lr"] for group in trainer.optimizer.param_groups] == [0.05, 0.05, 0.1, 0.1]


@registry.register_task("tiny_loss_only")
class LossOnly(tiny.Task):
    def train_step(self, model: Any, samples: Any) -> Any:
        return super().train_step(model, samples)[0]


def test_a_step_without_what_is_logged_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"LossOnly.train_step must return \(loss, .*\); it returned a Tensor"):
        tiny.fit(tmp_path, task="tiny_loss_only")
