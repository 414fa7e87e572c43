from __future__ import annotations

import csv

import lightning as L
import pytest
from lightning.pytorch.loggers import CSVLogger
from lightning.pytorch.trainer.states import RunningStage

from adapter.lightning.lean_trainer import LeanTrainer
from tests.runs import make, run

FLAGS = ("training", "validating", "testing", "predicting", "sanity_checking")


def bare(cls):
    return cls(
        accelerator="cpu",
        devices=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )


@pytest.mark.parametrize("stage", [None, *RunningStage])
def test_stages_are_those_of_lightning(stage):
    ours, theirs = bare(LeanTrainer), bare(L.Trainer)
    for trainer in (ours, theirs):
        trainer.state.stage = stage
    assert [getattr(ours, flag) for flag in FLAGS] == [getattr(theirs, flag) for flag in FLAGS]


@pytest.mark.parametrize("flag", FLAGS)
def test_a_stage_can_be_set(flag):
    trainer = bare(LeanTrainer)
    setattr(trainer, flag, True)
    assert [name for name in FLAGS if getattr(trainer, name)] == [flag]
    setattr(trainer, flag, False)
    assert [name for name in FLAGS if getattr(trainer, name)] == []


def test_lightning_never_validates_by_itself(tmp_path):
    assert bare(LeanTrainer).enable_validation is False
    assert run(tmp_path).metric_values is None


class Logging(L.Callback):
    """Logs through Lightning, as a callback of the user's may."""

    def __init__(self):
        self.found = {}

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        pl_module.log("mine", float(batch_idx), on_step=True, on_epoch=True, batch_size=4)

    def on_train_end(self, trainer, pl_module):
        self.found = {name: value.item() for name, value in trainer.callback_metrics.items()}


def test_values_logged_through_lightning_are_collected(tmp_path):
    callback = Logging()
    make(tmp_path, epochs=1, callbacks=[callback]).train()
    assert callback.found == {"mine": 1.0, "mine_step": 2.0, "mine_epoch": 1.0}


def test_values_logged_through_lightning_reach_its_logger(tmp_path):
    arguments = {"logger": CSVLogger(tmp_path / "csv", name="", version=""), "log_every_n_steps": 1}
    make(tmp_path, epochs=1, callbacks=[Logging()], trainer_args=arguments).train()
    rows = list(csv.DictReader((tmp_path / "csv" / "metrics.csv").read_text().splitlines()))
    assert [row["mine_step"] for row in rows if row["mine_step"]] == ["0.0", "1.0", "2.0"]
