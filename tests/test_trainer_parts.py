"""Each method that a subclass may override is the one that is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, default_collate

from adapter import TRAINERS, BaseTrainer, Config, EpochBasedTrainer, build_trainer
from adapter.models.mlp_classifier import MLPClassifier
from adapter.trainer_parts import TrainerParts
from tests.parity.golden.cases import MapData, TinyNet, sample
from tests.small_runs import BATCHES, Losses, build, losses, same, settings, weights


def test_the_trainer_stands_on_its_parts() -> None:
    assert issubclass(EpochBasedTrainer, TrainerParts)
    assert issubclass(TrainerParts, BaseTrainer)


def test_build_model(tmp_path: Path) -> None:
    """It may use the config, and the config need not name a model then."""

    class Own(EpochBasedTrainer):
        def build_model(self) -> Any:
            return TinyNet(dropout=self.cfg.model.rate)

    trainer = build(tmp_path, settings(model={"rate": 0.5}), cls=Own, model=None)
    assert trainer.model.drop.p == 0.5
    trainer.train()
    assert trainer.iter == BATCHES


def test_build_model_is_not_asked_for_a_model_that_is_given(tmp_path: Path) -> None:
    class Own(EpochBasedTrainer):
        def build_model(self) -> Any:
            raise AssertionError("not needed")

    assert isinstance(build(tmp_path, cls=Own).model, TinyNet)


def test_build_dataset(tmp_path: Path) -> None:
    class Own(EpochBasedTrainer):
        def build_dataset(self, datasets: Any, mode: str, preprocessor: Any = None) -> Any:
            return MapData({"train": 8, "val": 3}[mode])

    trainer = build(tmp_path, cls=Own, train_dataset=None, eval_dataset=None)
    trainer.train()
    sizes: list[int] = []
    trainer.evaluate(saving_fn=lambda inputs, outputs: sizes.append(len(inputs["feat"])))
    assert (trainer.iter, sizes) == (2, [3])


def test_get_train_dataloader(tmp_path: Path) -> None:
    class Own(EpochBasedTrainer):
        def get_train_dataloader(self) -> Any:
            return DataLoader(MapData(5), batch_size=1)

    trainer = build(tmp_path, cls=Own)
    trainer.train()
    assert (trainer.iter, trainer.iters_per_epoch) == (5, 5)


def test_get_eval_data_loader(tmp_path: Path) -> None:
    class Own(EpochBasedTrainer):
        def get_eval_data_loader(self) -> Any:
            return DataLoader(MapData(5), batch_size=5)

    sizes: list[int] = []
    build(tmp_path, cls=Own).evaluate(saving_fn=lambda inputs, outputs: sizes.append(len(inputs["feat"])))
    assert sizes == [5]


def test_get_predict_dataloader(tmp_path: Path) -> None:
    class Own(EpochBasedTrainer):
        def get_predict_dataloader(self, predict_datasets: Any) -> Any:
            return DataLoader(predict_datasets, batch_size=1)

    sizes: list[int] = []
    build(tmp_path, cls=Own).predict(MapData(3), lambda inputs, outputs: sizes.append(len(inputs["feat"])))
    assert sizes == [1, 1, 1]


def test_train_step(tmp_path: Path) -> None:
    class Own(EpochBasedTrainer):
        def train_step(self, model: Any, inputs: Any) -> None:
            assert model is self.model
            out = model(**inputs)
            self.train_outputs = {**out, "loss": out["loss"] * 2}
            self.log_buffer.update({"loss": 7.0})

    note = Losses()
    trainer = build(tmp_path, settings(train__logging={"interval": 1}), cls=Own, callbacks=[note])
    trainer.train()
    assert note.seen[0] == 2 * losses(tmp_path)[0]
    assert '"loss": 7.0' in next((tmp_path / "work").glob(f"{trainer.timestamp}.log.json")).read_text()


def test_evaluation_step(tmp_path: Path) -> None:
    class Own(EpochBasedTrainer):
        def evaluation_step(self, data: Any) -> Any:
            assert not torch.is_grad_enabled()
            right = torch.nn.functional.one_hot(data["labels"], 4)
            return {"logits": right, "loss": right.sum()}

    assert build(tmp_path, cls=Own).evaluate()["accuracy"] == 1.0


def test_rebuild_config(tmp_path: Path) -> None:
    """It comes before the options, and gets `cfg_modify_fn` to call or not."""

    class Own(EpochBasedTrainer):
        def rebuild_config(self, cfg: Config) -> Config:
            cfg.train.max_epochs, cfg.train.optimizer.lr = 3, 0.3
            return cfg

    trainer = build(tmp_path, cls=Own, cfg_modify_fn=pytest.fail, cfg_options={"train.optimizer.lr": 0.4})
    assert (trainer.max_epochs, trainer.plan.optimizer.args["lr"]) == (3, 0.4)


def test_create_optimizer_and_scheduler(tmp_path: Path) -> None:
    """The config need not name any then."""

    class Own(EpochBasedTrainer):
        def create_optimizer_and_scheduler(self) -> Any:
            optimizer = torch.optim.Adam(self.model.parameters(), lr=0.02)
            return optimizer, torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)

    trainer = build(tmp_path, settings(train__optimizer=None, train__lr_scheduler=None), cls=Own)
    before = weights(trainer)
    trainer.train()
    assert trainer.optimizer.param_groups[0]["lr"] == 0.01
    assert not same(weights(trainer), before)


def test_get_data_collator(tmp_path: Path) -> None:
    class Own(EpochBasedTrainer):
        def get_data_collator(self, data_collator: Any, remove_unused_data: bool = False) -> Any:
            assert (data_collator, remove_unused_data) == (default_collate, True)
            return (lambda samples: "train"), (lambda samples: "val")

    trainer = build(tmp_path, cls=Own, data_collator=default_collate, remove_unused_data=True)
    loaders = trainer.get_train_dataloader(), trainer.get_eval_data_loader()
    assert [next(iter(loader)) for loader in loaders] == ["train", "val"]


@pytest.mark.parametrize("method", ["get_preprocessors", "build_preprocessor"])
def test_preprocessors(method: str, tmp_path: Path) -> None:
    def own(self: Any, *given: Any) -> Any:
        return (lambda one: {**one, "feat": 0 * one["feat"]}), None

    trainer = build(tmp_path, cls=type("Own", (EpochBasedTrainer,), {method: own}))
    assert not trainer.train_dataset[1]["feat"].any()
    assert trainer.eval_dataset[1]["feat"].equal(sample(1)["feat"])


def test_get_metrics_names_them(tmp_path: Path) -> None:
    trainer = build(tmp_path, settings(evaluation__metrics=["loss-metric", {"type": "seq-cls-metric"}]))
    assert trainer.get_metrics() == trainer.metrics == ["loss-metric", "seq-cls-metric"]
    assert build(tmp_path, settings(task="nli", evaluation__metrics=None)).metrics == ["seq-cls-metric"]


def test_a_subclass_can_be_registered_and_built_by_name(tmp_path: Path) -> None:
    @TRAINERS.register_module(module_name="own-in-a-test")
    class Own(EpochBasedTrainer):
        def build_model(self) -> Any:
            return MLPClassifier(8, 4, hidden=3)

    try:
        arguments = {"cfg_file": settings(), "work_dir": str(tmp_path / "work")}
        trainer = build_trainer("own-in-a-test", arguments)
    finally:
        TRAINERS.modules["default"].pop("own-in-a-test")
    assert type(trainer) is Own
    assert isinstance(trainer.model, MLPClassifier)
