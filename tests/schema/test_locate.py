from __future__ import annotations

import pytest

from adapter.schema.locate import locate

CONFIG = {
    "train": {
        "hooks": [{"type": "EarlyStopHook", "patience": 1}, {"type": "MyHook"}],
        "optimizer_hook": {"type": "OptimizerHook", "grad_clip": {"max_norm": 1}},
        "optimizer": {"param_groups": [{"regex": "head", "lr": 0.1}]},
    }
}


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("train.max_epochs", "Trainer: max_epochs"),
        ("train.work_dir", "work directory"),
        ("train.dataloader.batch_size_per_gpu", "training data loader: batch_size"),
        ("train.dataloader.timeout", "training data loader: timeout"),
        ("train.optimizer.betas[0]", "optimizer: betas"),
        ("train.optimizer.param_groups[0].lr", "optimizer: param_groups: lr"),
        ("evaluation.metrics[0]", "metrics"),
        ("evaluation.metrics[0].type", "metrics: class"),
        ("model.backbone.depth", "model: backbone"),
        ("dataset.train.file", "data: train"),
        ("preprocessor.train[0].size", "preprocessor"),
        ("task", "task"),
    ],
)
def test_target(path, target):
    place = locate(CONFIG, path)
    assert (place.known, place.target, place.hook) == (True, target, "")


@pytest.mark.parametrize(
    ("path", "hook", "argument"),
    [
        ("train.hooks[0].patience", "EarlyStopHook", "patience"),
        ("train.hooks[0].type", "EarlyStopHook", "type"),
        ("train.hooks[1].anything", "MyHook", "anything"),
        ("train.optimizer_hook.grad_clip.max_norm", "OptimizerHook", "grad_clip"),
        ("train.optimizer.options.cumulative_iters", "OptimizerHook", "cumulative_iters"),
        ("train.logging.interval", "TextLoggerHook", "interval"),
        ("train.checkpoint.best.rule", "BestCkptSaverHook", "rule"),
        ("evaluation.period", "EvaluationHook", ""),
    ],
)
def test_hook_argument(path, hook, argument):
    place = locate(CONFIG, path)
    assert (place.known, place.hook, place.argument) == (True, hook, argument)


@pytest.mark.parametrize(
    ("path", "block", "sibling"),
    [
        ("experiment.name", "experiment", "train"),
        ("train.criterion.name", "train.criterion", "optimizer"),
        ("train.logging.every", "train.logging.every", "interval"),
        ("train.hooks[0].patient", "train.hooks[0].patient", "patience"),
        ("evaluation.batch", "evaluation.batch", "metrics"),
    ],
)
def test_unknown_key(path, block, sibling):
    place = locate(CONFIG, path)
    assert (place.known, place.block) == (False, block)
    assert sibling in place.siblings
