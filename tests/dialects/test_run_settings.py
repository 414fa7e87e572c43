from __future__ import annotations

import pytest

from adapter.config.config import Config
from adapter.dialects.run import to_documented
from adapter.dialects.run_settings import differences, iterations, precision, settings, two_spellings

DEEPSPEED = {
    "train_micro_batch_size_per_gpu": 2,
    "gradient_accumulation_steps": 16,
    "gradient_clipping": 1.0,
    "optimizer": {"type": "AdamW", "params": {"lr": 1e-4, "betas": [0.8, 0.99], "eps": 1e-7, "weight_decay": "auto"}},
}


@pytest.mark.parametrize(
    ("run", "key", "value"),
    [
        ({"batch_size_train": 3}, "batch_size", 3),
        ({"batch_size_train": 3, "batch_size": 4}, "batch_size", 4),
        ({"batch_size": 4}, "batch_size_val", 4),
        ({"batch_size_eval": 5, "batch_size": 4}, "batch_size_val", 5),
        ({"num_workers": 2}, "num_worker", 2),
        ({"lr_decay_rate": None, "min_lr": None}, "min_lr", 0.0),
        ({}, "weight_decay", 0.05),
        ({"deepspeed_config": DEEPSPEED}, "accum_grad_iters", 16),
        ({"deepspeed_config": DEEPSPEED}, "grad_norm_clip", 1.0),
        ({"deepspeed_config": DEEPSPEED}, "beta2", 0.99),
        ({"deepspeed_config": DEEPSPEED}, "weight_decay", 0.05),
        ({"deepspeed_config": DEEPSPEED, "accum_grad_iters": 8}, "accum_grad_iters", 8),
    ],
)
def test_one_spelling_with_defaults(run, key, value):
    assert settings({"run": run})[key] == value


def test_the_batch_size_may_be_that_of_the_data():
    sizes = {"a": {"batch_size": 64}, "b": {"batch_size": 64}}
    assert settings({"datasets": sizes, "run": {}}).batch_size == 64
    sizes["b"]["batch_size"] = 32
    assert "batch_size" not in settings({"datasets": sizes, "run": {}})


def test_a_value_that_is_given_twice_must_be_the_same():
    run = {"deepspeed_config": DEEPSPEED, "init_lr": 2e-4, "batch_size_train": 2, "weight_decay": 0.1}
    (problem,) = differences({"run": run})
    assert problem.key == "run.deepspeed_config.optimizer.params.lr"
    assert problem.found == "found 0.0001, but run.init_lr is 0.0002"


@pytest.mark.parametrize(
    ("run", "keys"),
    [
        ({"batch_size": 2, "batch_size_train": 3, "batch_size_val": 4, "batch_size_eval": 4}, ["run.batch_size_train"]),
        ({"num_worker": 0, "num_workers": 2, "batch_size_eval": 1}, ["run.num_workers"]),
        ({"num_worker": None, "num_workers": 2}, []),
    ],
)
def test_two_spellings_of_a_key_must_agree(run, keys):
    assert [problem.key for problem in two_spellings({"run": run})] == keys


@pytest.mark.parametrize(
    ("run", "want"),
    [
        ({"max_epoch": 3}, (3, None)),
        ({"max_epoch": 3, "iters_per_epoch": 5}, (3, 5)),
        ({"runner": "runner_iter", "max_iters": 25, "iters_per_inner_epoch": 10}, (3, 10)),
        ({"runner": "runner_iter", "max_iters": 20, "iters_per_inner_epoch": 10}, (2, 10)),
        ({"runner": "runner_iter", "max_iters": 20}, (None, None)),
        ({"max_iters": 20, "iters_per_inner_epoch": 10}, (2, 10)),
        ({"max_epoch": 3, "max_iters": 20, "iters_per_inner_epoch": 10}, (3, None)),
    ],
)
def test_iterations(run, want):
    assert iterations(run) == want


@pytest.mark.parametrize(
    ("run", "want"),
    [
        ({}, "32-true"),
        ({"amp": True}, "16-mixed"),
        ({"amp": True, "autocast_dtype": "bf16"}, "bf16-mixed"),
        ({"amp": True, "autocast_dtype": "float32"}, "32-true"),
        ({"amp": False, "autocast_dtype": "bf16"}, "32-true"),
    ],
)
def test_precision(run, want):
    assert precision(run) == want


def test_becomes_a_documented_config():
    run = {
        "deepspeed_config": DEEPSPEED,
        "max_epoch": 3,
        "hooks": [{"type": "EarlyStopping"}, {"type": "IterTimerHook"}],
    }
    documented, moves = to_documented(
        Config({"model": {"arch": "x"}, "dataset": {"val_cfg": {"name": "y"}}, "run": run})
    )
    train = documented.train
    assert train.optimizer == {"type": "AdamW", "lr": 1e-4, "weight_decay": 0.05, "betas": [0.8, 0.99], "eps": 1e-7}
    assert train.hooks == [{"type": "DeepspeedHook", "config": DEEPSPEED}, {"type": "IterTimerHook"}]
    assert (train.optimizer_hook.cumulative_iters, train.optimizer_hook.grad_clip) == (16, {"max_norm": 1.0})
    assert documented.evaluation.period.interval == 1
    assert {(move.key, move.to) for move in moves} >= {
        ("run.deepspeed_config", "train.hooks[0].config"),
        ("run.hooks[1]", "train.hooks[1]"),
    }
