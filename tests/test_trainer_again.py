"""A run that fails, or that is left and gone on with: counts, defaults, evaluations of other data in between."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from adapter import EpochBasedTrainer, Metric
from adapter.checkpoint import files
from tests.parity.golden.cases import MapData
from tests.small_runs import BATCHES, at, build, losses, same, settings, weights

EVALUATE = {"evaluation__period": {"interval": 1}}


@pytest.mark.parametrize("failing", [0, BATCHES + 1])
def test_after_an_error_in_a_hook_training_again_restarts_the_epoch(failing: int, tmp_path: Path) -> None:
    """In the first epoch, and in the second, which begins at iteration 3."""
    seen: list[tuple[int, int, int]] = []
    errors = [LookupError("once")]

    def fail_once(trainer: Any) -> None:
        seen.append((trainer.epoch, trainer.iter, trainer.inner_iter))
        if trainer.iter == failing and errors:
            raise errors.pop()

    trainer = build(tmp_path, max_epochs=2, callbacks=[at("after_train_iter", fail_once)])
    with pytest.raises(LookupError, match="once"):
        trainer.train()
    whole = [(epoch, epoch * BATCHES + i, i) for epoch in range(2) for i in range(BATCHES)]
    assert seen == whole[: failing + 1]
    seen.clear()
    trainer.train()
    assert seen == whole[failing // BATCHES * BATCHES :]
    assert (trainer.epoch, trainer.iter) == (2, 2 * BATCHES)


# evaluations of other data in the middle of training


def test_predicting_within_training_keeps_the_evaluation_apart(tmp_path: Path) -> None:
    """All of the other data are used, however many iterations an evaluation has; training goes on as if nothing was."""
    predicted: list[int] = []
    evaluated: list[int] = []

    def look(trainer: Any) -> None:
        if trainer.iter == 1:
            trainer.evaluate(saving_fn=lambda inputs, outputs: evaluated.append(len(outputs["logits"])))
            trainer.predict(MapData(9), lambda inputs, outputs: predicted.append(len(outputs["logits"])))
            trainer.evaluate(saving_fn=lambda inputs, outputs: evaluated.append(len(outputs["logits"])))

    config = settings(evaluation__val_iters_per_epoch=1, **EVALUATE)
    plain, looking = build(tmp_path, config), build(tmp_path, config, callbacks=[at("after_train_iter", look)])
    for trainer in (plain, looking):
        trainer.train()
    assert predicted == [4, 4, 1]
    assert evaluated == [4, 4]
    assert looking.metric_values == plain.metric_values
    assert same(weights(looking), weights(plain))
    assert looking.eval_dataloader.dataset is looking.eval_dataset


def test_predicting_alone_uses_all_the_data(tmp_path: Path) -> None:
    sizes: list[int] = []
    trainer = build(tmp_path, val_iters_per_epoch=1)
    trainer.predict(MapData(9), lambda inputs, outputs: sizes.append(len(outputs["logits"])))
    assert sizes == [4, 4, 1]


# visualization


def test_visualization_is_called_for_each_batch_of_an_evaluation(tmp_path: Path) -> None:
    class Own(EpochBasedTrainer):
        calls: list[Any] = []

        def visualization(self, batch_result: Any, dataset: Any, **kwargs: Any) -> None:
            self.calls.append((len(batch_result["logits"]), dataset is self.eval_dataset, kwargs))

    trainer = build(tmp_path, settings(evaluation__visualization={"folder": "images"}), cls=Own)
    trainer.evaluate()
    assert Own.calls == [(4, True, {"folder": "images"}), (2, True, {"folder": "images"})]
    trainer.predict(MapData(3), lambda inputs, outputs: None)
    assert len(Own.calls) == 2
    build(tmp_path, cls=Own).evaluate()  # whose config asks for none
    assert len(Own.calls) == 2


# default hooks


@pytest.mark.parametrize(
    ("changes", "saved"),
    [
        ({"train__checkpoint": {"period": {"max_checkpoint_num": 5}}}, ["epoch_1", "epoch_2", "epoch_3"]),
        ({"train__checkpoint": {"period": {"max_checkpoint_num": 2}}}, ["epoch_2", "epoch_3"]),
        ({"train__checkpoint": {"period": {"interval": 2}}}, ["epoch_2", "epoch_3"]),
        ({"train__hooks": [{"type": "CheckpointHook", "max_checkpoint_num": 5}]}, ["epoch_1", "epoch_2", "epoch_3"]),
    ],
)
def test_a_checkpoint_section_keeps_the_default_interval(
    changes: dict[str, Any], saved: list[str], tmp_path: Path
) -> None:
    build(tmp_path, settings(**changes), max_epochs=3).train()
    assert sorted(path.stem for path in (tmp_path / "work").glob("epoch_?.pth")) == saved


def test_a_listed_hook_like_a_default_one_is_reported_when_it_is_not_used(tmp_path: Path) -> None:
    listed = [{"type": "CheckpointHook", "interval": 1}]
    config = settings(train__hooks=listed, train__checkpoint={"period": {"interval": 2}})
    trainer = build(tmp_path, config)
    trainer.evaluate()
    log = Path(trainer.work_dir, f"{trainer.timestamp}.log").read_text()
    text = "config: train.hooks[0] dropped: train.checkpoint.period is given too, and wins"
    assert log.count(text) == 1
    assert log.count(" dropped: ") == 1  # default hooks that nobody wrote are not worth a line


# metric values


class FromNumpy(Metric):
    """Values as numpy and torch make them."""

    def add(self, outputs: Any, inputs: Any) -> None:
        pass

    def evaluate(self) -> dict[str, Any]:
        return {
            "score": np.float64(0.5),
            "count": np.int64(3),
            "by_class": np.array([0.25, 0.75]),
            "tensor": torch.tensor(2.5),
            "deep": {"f1": np.float32(0.5), "each": [np.int64(1), torch.tensor(2)], "text": "x", "none": None},
        }

    def merge(self, other: Any) -> None:
        pass


def test_values_of_numpy_survive_saving_and_resuming(tmp_path: Path) -> None:
    best = {"type": "BestCkptSaverHook", "metric_key": "score"}
    metrics = [f"{__name__}.FromNumpy"]
    config = settings(train__hooks=[best], train__max_epochs=2, evaluation__metrics=metrics, **EVALUATE)
    whole = losses(tmp_path / "whole", config)
    state = files.load(tmp_path / "whole" / "work" / "epoch_1_trainer_state.pth")
    expected: dict[str, Any] = {"score": 0.5, "count": 3, "by_class": [0.25, 0.75], "tensor": 2.5}
    expected["deep"] = {"f1": 0.5, "each": [1, 2], "text": "x", "none": None}
    assert state["meta"]["adapter"]["metric_values"] == expected
    trainer = build(tmp_path / "on", config)
    trainer.train(str(tmp_path / "whole" / "work" / "epoch_1"))
    assert (trainer.epoch, trainer.iter, trainer.metric_values) == (2, len(whole), expected)
