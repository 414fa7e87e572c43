from __future__ import annotations

import lightning as L
import pytest
from torch.utils.data import IterableDataset

from adapter.hooks.hook import STAGES, Hook
from adapter.lightning.hook_callback import STAGE_METHODS, HookCallback
from adapter.lightning.module import TrainingModule
from tests.runs import Points, Recorder, make, run


def test_every_stage_but_the_constructor_s_has_its_lightning_method():
    assert set(STAGE_METHODS) == set(STAGES) - {"after_init"}


@pytest.mark.parametrize(("stage", "method"), STAGE_METHODS.items())
def test_both_names_exist(stage, method):
    assert callable(getattr(Hook, stage))
    ours = HookCallback if method.startswith("on_") else TrainingModule
    assert method in vars(ours)
    assert callable(getattr(L.Callback if ours is HookCallback else L.LightningModule, method))


class Witness(L.Callback):
    """Writes down the Lightning methods that are entered, before HookCallback's turn comes."""

    def __init__(self, entered):
        for method in sorted(set(STAGE_METHODS.values())):
            if method.startswith("on_"):
                setattr(self, method, lambda *args, method=method: entered.append(method))


@pytest.mark.parametrize("stage", [stage for stage, method in STAGE_METHODS.items() if method.startswith("on_")])
def test_a_stage_runs_in_its_method(tmp_path, stage):
    trainer = make(tmp_path, [{"type": "EvaluationHook"}], epochs=1, samples=4)
    running = []
    note = Recorder(stage, lambda trainer: running.append(stage))
    trainer.register_hook(note)
    trainer.trainer_args["callbacks"] = [Witness(running)]
    trainer.train()
    # Lightning calls the user's callbacks after ours, so the method's own name is the next one
    assert running[running.index(stage) + 1] == STAGE_METHODS[stage]


class Stream(IterableDataset):
    """10 samples, without length: 2 batches of 4 and one of 2."""

    def __iter__(self):
        return (Points(10)[i] for i in range(10))


@pytest.mark.parametrize(("per_epoch", "iterations"), [(2, [0, 1, 2, 3]), (3, [0, 1, 2, 3, 4, 5])])
def test_data_without_length(tmp_path, per_epoch, iterations):
    seen = Recorder("after_train_iter", lambda trainer: trainer.iter)
    run(tmp_path, train_dataset=Stream(), train_iters_per_epoch=per_epoch, callbacks=[seen])
    assert seen.seen == iterations


def test_data_that_end_early_count_no_iteration_more(tmp_path):
    seen = Recorder("after_train_iter", lambda trainer: trainer.iter)
    trainer = run(tmp_path, train_dataset=Stream(), train_iters_per_epoch=5, callbacks=[seen])
    assert seen.seen == [0, 1, 2, 3, 4, 5]
    assert (trainer.epoch, trainer.iter) == (2, 6)
