from __future__ import annotations

import pytest

from adapter.schema.hook_list import hook_list, section

CLIP = {"grad_clip": {"max_norm": 0.5}}
AMP = {"type": "TorchAMPOptimizerHook", "cumulative_iters": 2, "loss_scale": 128.0}
PLATEAU = {"type": "PlateauLrSchedulerHook", "metric_key": "f1"}
WARM = {"by_epoch": False, "warmup": {"type": "LinearWarmup", "warmup_iters": 3}}


@pytest.mark.parametrize(
    ("train", "keywords", "expected"),
    [
        ({}, {}, [("OptimizerHook", {}), ("LrSchedulerHook", {})]),
        (
            {
                "optimizer": {"type": "SGD", "options": CLIP},
                "lr_scheduler": {"type": "StepLR", "options": WARM},
            },
            {},
            [("OptimizerHook", CLIP), ("LrSchedulerHook", WARM)],
        ),
        (
            {
                "optimizer": {"options": CLIP},
                "optimizer_hook": {"type": "OptimizerHook", "cumulative_iters": 2},
            },
            {},
            [("OptimizerHook", {"cumulative_iters": 2}), ("LrSchedulerHook", {})],
        ),
        (
            {
                "optimizer_hook": {"type": "NoneOptimizerHook"},
                "lr_scheduler_hook": {"type": "NoneLrSchedulerHook"},
            },
            {},
            [("NoneOptimizerHook", {}), ("NoneLrSchedulerHook", {})],
        ),
        (
            {
                "optimizer": {"options": {**CLIP, "cumulative_iters": 5}},
                "optimizer_hook": AMP,
                "use_fp16": True,
            },
            {},
            [
                ("OptimizerHook", {**CLIP, "cumulative_iters": 2}),
                ("TorchAMPOptimizerHook", {"cumulative_iters": 2, "loss_scale": 128.0}),
                ("LrSchedulerHook", {}),
            ],
        ),
        (
            {"optimizer": {"options": CLIP}},
            {"use_fp16": True},
            [("OptimizerHook", CLIP), ("TorchAMPOptimizerHook", CLIP), ("LrSchedulerHook", {})],
        ),
        ({"use_fp16": True}, {"use_fp16": False}, [("OptimizerHook", {}), ("LrSchedulerHook", {})]),
        (
            {
                "lr_scheduler": {"options": WARM},
                "lr_scheduler_hook": {"type": "LrSchedulerHook", "by_epoch": True},
            },
            {},
            [("OptimizerHook", {}), ("LrSchedulerHook", {"by_epoch": True})],
        ),
        (
            {"lr_scheduler_hook": PLATEAU},
            {},
            [
                ("OptimizerHook", {}),
                ("LrSchedulerHook", {}),
                ("PlateauLrSchedulerHook", {"metric_key": "f1"}),
            ],
        ),
        (
            {},
            {"launcher": "pytorch"},
            [("OptimizerHook", {}), ("LrSchedulerHook", {}), ("DDPHook", {"launcher": "pytorch"})],
        ),
        (
            {"hooks": [{"type": "DDPHook", "launcher": "mpi"}]},
            {"launcher": "pytorch"},
            [("OptimizerHook", {}), ("LrSchedulerHook", {}), ("DDPHook", {"launcher": "mpi"})],
        ),
    ],
)
def test_what_steps_and_what_is_added(train, keywords, expected):
    assert [(hook.type, hook.args) for hook in hook_list({"train": train}, keywords)] == expected


def test_hooks_with_a_key_come_before_the_list_and_say_where_they_stand():
    config = {
        "train": {
            "hooks": [{"type": "IterTimerHook"}],
            "logging": {"interval": 2},
            "checkpoint": {"period": {}, "best": None},
        },
        "evaluation": {"period": {"interval": 3}},
    }
    assert [(hook.type, hook.key) for hook in hook_list(config, {})][2:] == [
        ("EvaluationHook", "evaluation.period"),
        ("CheckpointHook", "train.checkpoint.period"),
        ("TextLoggerHook", "train.logging"),
        ("IterTimerHook", "train.hooks[0]"),
    ]


@pytest.mark.parametrize(
    ("config", "path", "expected"),
    [({"a": {"b": {"c": 1}}}, "a.b", {"c": 1}), ({"a": None}, "a.b", {}), ({"a": 1}, "a", {}), ({}, "a", {})],
)
def test_section(config, path, expected):
    assert section(config, path) == expected
