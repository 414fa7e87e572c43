from __future__ import annotations

import sys

import pytest

from adapter.errors import ConfigError
from adapter.registry import LR_SCHEDULER
from tests.runs import Recorder, make

optimization = pytest.importorskip("transformers.optimization")
trainer_utils = pytest.importorskip("transformers.trainer_utils")
WARM = {"num_warmup_steps": 2}
STEP = {"options": {"by_epoch": False}}


def rates(folder, scheduler, epochs=2, **train):
    """The learning rate of each iteration of a run: 3 an epoch."""
    rate = Recorder("before_train_iter", lambda trainer: trainer.optimizer.param_groups[0]["lr"])
    make(folder, epochs=epochs, train={"lr_scheduler": scheduler, **train}, callbacks=[rate]).train()
    return rate.seen


def theirs(name, steps, **arguments):
    """The learning rates that transformers gives."""
    import torch

    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1)
    warmup, length = arguments.pop("num_warmup_steps", None), arguments.pop("num_training_steps", None)
    scheduler = optimization.get_scheduler(name, optimizer, warmup, length, scheduler_specific_kwargs=arguments)
    seen = []
    for _ in range(steps):
        seen.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return seen


@pytest.mark.parametrize(
    ("name", "arguments", "filled"),
    [
        ("linear", WARM, True),
        ("linear", {}, True),
        ("linear", {**WARM, "num_training_steps": 4}, False),
        ("cosine", {**WARM, "num_cycles": 1.0}, True),
        ("cosine_with_restarts", {**WARM, "num_cycles": 2}, True),
        ("polynomial", {**WARM, "lr_end": 0.01, "power": 2.0}, True),
        ("constant", {}, False),
        ("constant_with_warmup", WARM, False),
        ("inverse_sqrt", {**WARM, "timescale": 3}, False),
        ("cosine_with_min_lr", {**WARM, "min_lr": 0.02}, True),
        ("cosine_warmup_with_min_lr", {**WARM, "min_lr_rate": 0.1, "warmup_lr_rate": 0.2}, True),
        ("warmup_stable_decay", {**WARM, "num_decay_steps": 2}, True),
        ("warmup_stable_decay", {**WARM, "num_decay_steps": 2, "num_stable_steps": 1}, False),
    ],
)
def test_by_iteration_it_equals_transformers(name, arguments, filled, tmp_path):
    want = theirs(name, 6, **{"num_warmup_steps": 0, **arguments}, **({"num_training_steps": 6} if filled else {}))
    assert rates(tmp_path, {"type": name, **arguments, **STEP}) == want


def test_by_epoch_the_length_is_that_of_the_run_in_epochs(tmp_path):
    assert rates(tmp_path, {"type": "linear"}, epochs=4)[::3] == pytest.approx([0.1, 0.075, 0.05, 0.025])


def test_with_accumulation_it_starts_at_the_first_update(tmp_path):
    optimizer = {"type": "SGD", "lr": 0.1, "options": {"cumulative_iters": 3}}
    seen = rates(tmp_path, {"type": "linear", **STEP}, optimizer=optimizer)  # four steps, the last after the run
    assert seen == pytest.approx([0.1, 0.1, 0.1, 0.075, 0.05, 0.025])


def test_every_name_of_transformers_is_known():
    elsewhere = {"reduce_lr_on_plateau", "greedy"}  # both watch a metric: torch's ReduceLROnPlateau does here
    assert {item.value for item in trainer_utils.SchedulerType} - elsewhere <= set(LR_SCHEDULER.names())


@pytest.mark.parametrize(
    ("scheduler", "text"),
    [
        ({"type": "cosin"}, r"train\.lr_scheduler\.type: unknown scheduler 'cosin'.*Did you mean 'cosine'"),
        ({"type": "cosine", "num_warmup": 2}, r"cosine takes no argument 'num_warmup'.*num_warmup_steps"),
        ({"type": "warmup_stable_decay"}, "warmup_stable_decay needs 'num_decay_steps'"),
        ({"type": "cosine_with_min_lr"}, "cosine_with_min_lr refuses its arguments"),
    ],
)
def test_what_is_wrong_is_refused_before_the_run(scheduler, text, tmp_path):
    with pytest.raises(ConfigError, match=text):
        make(tmp_path / "work", train={"lr_scheduler": scheduler})
    assert not (tmp_path / "work").exists()


def test_a_given_number_of_iterations_counts(tmp_path):
    from torch.utils.data import IterableDataset

    class Stream(IterableDataset):
        def __iter__(self):
            yield from ()

    train = {"lr_scheduler": {"type": "linear", **STEP}, "dataloader": {"batch_size_per_gpu": 4, "workers_per_gpu": 0}}
    trainer = make(tmp_path, train=train, train_dataset=Stream(), train_iters_per_epoch=3)
    trainer.register_optimizers_hook()
    assert trainer.lr_scheduler.lr_lambdas[0].keywords["num_training_steps"] == 6


def test_without_transformers_the_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers.optimization", None)
    with pytest.raises(ConfigError, match=r"train\.lr_scheduler\.type: 'linear' needs the package transformers"):
        make(tmp_path, train={"lr_scheduler": {"type": "linear"}})
