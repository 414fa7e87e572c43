"""Configs that ModelScope's trainer was recorded with, feature by feature: beside recorded/NAME.json.

`run` holds the trainer's keyword arguments, and three of our own: `data`, arguments of the data set for training and
for evaluation; `dropout`; `model`, a kind of recorded_model.Variant. ELSEWHERE stands for a folder of the test's own.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from tests.parity.golden.cases import base, loader

Settings = dict[str, Any]

ELSEWHERE = "<elsewhere>"

CHECKPOINT = {"type": "CheckpointHook", "interval": 1}
LOG = {"type": "TextLoggerHook", "interval": 2}
TIMER = {"type": "IterTimerHook"}
EVAL = {"type": "EvaluationHook", "interval": 1}
BOARD = {"type": "TensorboardHook"}
BEST = {"type": "BestCkptSaverHook", "metric_key": "accuracy"}
STOP = {"type": "EarlyStopHook", "metric_key": "accuracy"}
PLATEAU_HOOK = {"type": "PlateauLrSchedulerHook", "metric_key": "accuracy"}

SGD = {"type": "SGD", "lr": 0.1, "momentum": 0.9}
STILL = {"type": "SGD", "lr": 0.0}  # the weights, and every metric, stay what they are
STEP = {"type": "StepLR", "step_size": 1, "gamma": 0.5}
COSINE = {"type": "CosineAnnealingLR", "T_max": 20}
MULTI = {"type": "MultiStepLR", "milestones": [4], "gamma": 0.1}
PLATEAU = {"type": "ReduceLROnPlateau", "mode": "max", "factor": 0.1, "patience": 0}
ONE_CYCLE = {"type": "OneCycleLR", "max_lr": 0.2}

BY_STEP = {"by_epoch": False}
LOSS = {"metrics": ["loss-metric"]}
STREAM = {"stream": True}

CASES: dict[str, dict[str, Settings]] = {}


def case(
    name: str,
    epochs: int = 2,
    evaluation: Settings | None = None,
    drop: Iterable[str] = (),
    top: Settings | None = None,
    run: Settings | None = None,
    **train: Any,
) -> None:
    """Add a case: TinyNet's config with these keys of its sections set, and these dotted keys left out."""
    config = base(epochs, {"hooks": hooks(), **train}, evaluation, **(top or {}))
    for key in drop:
        *path, last = key.split(".")
        node = config
        for step in path:
            node = node[step]
        del node[last]
    CASES[name] = copy.deepcopy({"cfg": config, "run": run or {}})


def hooks(
    *more: Settings,
    log: Settings | None = LOG,
    checkpoint: Settings | None = CHECKPOINT,
    evaluate: Settings | None = EVAL,
) -> list[Settings]:
    """The usual hooks, one of them changed or left out, and more."""
    return [hook for hook in (checkpoint, log, TIMER, evaluate) if hook] + list(more)


def on(schedule: Settings, **options: Any) -> Settings:
    """A schedule with these options."""
    return {**schedule, "options": options}


def warm(schedule: Settings, kind: str, iters: int, by_epoch: bool = True, **more: Any) -> Settings:
    """A schedule with a warmup."""
    return on(schedule, by_epoch=by_epoch, warmup={"type": kind, "warmup_iters": iters, **more})


def sgd(**options: Any) -> Settings:
    """SGD with these options."""
    return on(SGD, **options)


# warmups
case("w_constant_step", lr_scheduler=warm(COSINE, "ConstantWarmup", 5, False, warmup_ratio=0.3))
case("w_constant_epoch_default_ratio", 5, lr_scheduler=warm(MULTI, "ConstantWarmup", 2))
case("w_linear_step", lr_scheduler=warm(COSINE, "LinearWarmup", 7, False, warmup_ratio=0.25))
case("w_linear_step_default_ratio", lr_scheduler=warm(COSINE, "LinearWarmup", 12, False))
case("w_exp_epoch", 6, lr_scheduler=warm(MULTI, "ExponentialWarmup", 3, True, warmup_ratio=0.01))
case("w_exp_step_default_ratio", lr_scheduler=warm(STEP, "ExponentialWarmup", 4, False))
case("w_linear_epoch_steplr", 6, lr_scheduler=warm(STEP, "LinearWarmup", 2, True, warmup_ratio=0.5))
case(
    "w_linear_step_accum",
    3,
    optimizer=sgd(cumulative_iters=3),
    lr_scheduler=warm(COSINE, "LinearWarmup", 5, False, warmup_ratio=0.2),
)
TO_ZERO = {"type": "LinearLR", "start_factor": 1.0, "end_factor": 0.0, "total_iters": 20}
case("w_linear_step_linearlr", lr_scheduler=warm(TO_ZERO, "LinearWarmup", 6, False))
case("w_linear_step_onecycle", lr_scheduler=warm({**ONE_CYCLE, "total_steps": 30}, "LinearWarmup", 4, False))
case("w_linear_step_longer_than_run", lr_scheduler=warm(COSINE, "LinearWarmup", 100, False))

# when the schedule steps
case("lr_strategy_by_epoch", lr_scheduler=on(STEP, lr_strategy="by_epoch"))
case("lr_strategy_by_step", lr_scheduler=on({**STEP, "step_size": 3}, lr_strategy="by_step"))
case("lr_strategy_no", lr_scheduler=on(STEP, lr_strategy="no"))
case(
    "lr_by_step_accum",
    3,
    optimizer=sgd(cumulative_iters=4),
    lr_scheduler=on({**STEP, "step_size": 5}, **BY_STEP),
)
case("lr_onecycle_step", lr_scheduler=on({**ONE_CYCLE, "total_steps": 20}, **BY_STEP))
case(
    "lr_onecycle_step_accum",
    optimizer=sgd(cumulative_iters=4),
    lr_scheduler=on({**ONE_CYCLE, "total_steps": 30}, **BY_STEP),
)
case("lr_cosine_restarts", 5, lr_scheduler={"type": "CosineAnnealingWarmRestarts", "T_0": 2, "T_mult": 2})
CYCLIC = {"type": "CyclicLR", "base_lr": 0.01, "max_lr": 0.1, "step_size_up": 4}
case("lr_cyclic_step", lr_scheduler=on(CYCLIC, **BY_STEP))
case("lr_polynomial", 4, lr_scheduler={"type": "PolynomialLR", "total_iters": 4, "power": 2.0})
case("lr_options_empty", lr_scheduler=on(STEP))
case("lr_none_none_hook", drop=["train.lr_scheduler"], lr_scheduler_hook={"type": "NoneLrSchedulerHook"})
case(
    "lr_none_strategy_no",
    drop=["train.lr_scheduler"],
    lr_scheduler_hook={"type": "LrSchedulerHook", "lr_strategy": "no"},
)

# older spellings
case(
    "old_optimizer_hook",
    3,
    optimizer_hook={
        "type": "OptimizerHook",
        "cumulative_iters": 2,
        "grad_clip": {"max_norm": 0.5},
        "loss_keys": "loss",
    },
)
case(
    "old_optimizer_hook_wins_over_options",
    optimizer=sgd(cumulative_iters=5, grad_clip={"max_norm": 0.01}),
    optimizer_hook={"type": "OptimizerHook", "cumulative_iters": 2},
)
case(
    "old_lr_hook_step_warmup",
    lr_scheduler=COSINE,
    lr_scheduler_hook={
        "type": "LrSchedulerHook",
        "by_epoch": False,
        "warmup": {"type": "LinearWarmup", "warmup_iters": 5, "warmup_ratio": 0.2},
    },
)
case(
    "old_lr_hook_wins_over_options",
    lr_scheduler=on(STEP, **BY_STEP),
    lr_scheduler_hook={"type": "LrSchedulerHook", "by_epoch": True},
)
case("none_optimizer_hook", hooks=hooks({"type": "StepItHook"}), optimizer_hook={"type": "NoneOptimizerHook"})
case("none_lr_hook", lr_scheduler_hook={"type": "NoneLrSchedulerHook"})
case(
    "none_both_hooks",
    3,
    hooks=hooks({"type": "StepItHook", "lr": True}),
    optimizer_hook={"type": "NoneOptimizerHook"},
    lr_scheduler_hook={"type": "NoneLrSchedulerHook"},
)
case("none_optimizer_hook_alone", optimizer_hook={"type": "NoneOptimizerHook"})
case(
    "both_spellings",
    checkpoint={"period": {"interval": 2}},
    logging={"interval": 4},
    evaluation={"period": {"interval": 2}},
)
case(
    "two_of_a_type",
    hooks=[
        CHECKPOINT,
        LOG,
        {**LOG, "interval": 5},
        {**CHECKPOINT, "interval": 2},
        TIMER,
        EVAL,
        {"type": "EvaluationHook", "by_epoch": False, "interval": 6},
    ],
)
case("two_timers", hooks=hooks(TIMER))
case("hooks_empty", hooks=[])
case("hooks_eval_only", hooks=[EVAL])

# optimizers, accumulation, clipping, losses
case("accum_3_not_dividing", 3, optimizer=sgd(cumulative_iters=3))
case("clip_norm1", optimizer=sgd(grad_clip={"max_norm": 1.0, "norm_type": 1}))
case("clip_inf_norm", optimizer=sgd(grad_clip={"max_norm": 0.05, "norm_type": "inf"}))
case("loss_two_one_key", run={"model": "two_losses"})
case("loss_keys_aux_only", optimizer=sgd(loss_keys="aux_loss"), run={"model": "two_losses"})
case(
    "loss_keys_two_separate",
    optimizer=sgd(loss_keys=["loss", "aux_loss"]),
    run={"model": "two_separate_losses"},
)
case(
    "loss_keys_two_separate_accum",
    optimizer=sgd(cumulative_iters=2, loss_keys=["loss", "aux_loss"], grad_clip={"max_norm": 0.5}),
    run={"model": "two_separate_losses"},
)
case("opt_adam", optimizer={"type": "Adam", "lr": 0.01, "weight_decay": 0.01})
case("opt_adamw_amsgrad", optimizer={"type": "AdamW", "lr": 0.01, "amsgrad": True, "betas": [0.8, 0.9]})
case("opt_adagrad", optimizer={"type": "Adagrad", "lr": 0.05})
case("opt_rmsprop", optimizer={"type": "RMSprop", "lr": 0.003, "momentum": 0.5, "centered": True})
case(
    "opt_sgd_nesterov",
    optimizer={"type": "SGD", "lr": 0.05, "momentum": 0.8, "nesterov": True, "weight_decay": 0.001},
)
case("opt_adamax", optimizer={"type": "Adamax", "lr": 0.01})
case("bn_buffers", run={"model": "bn"})
case("one_dict_forward", run={"model": "one_dict"})

# evaluation
for name, epochs, settings in (
    ("strategy_by_step", 2, {"eval_strategy": "by_step", "interval": 4}),
    ("strategy_by_epoch_2", 5, {"eval_strategy": "by_epoch", "interval": 2}),
    ("strategy_no", 2, {"eval_strategy": "no"}),
    ("start_idx_epoch", 5, {"start_idx": 2}),
    ("start_idx_epoch_interval2", 6, {"start_idx": 2, "interval": 2}),
    ("start_idx_0", 3, {"start_idx": 0}),
    ("start_idx_step", 2, {"by_epoch": False, "start_idx": 5, "interval": 3}),
    ("step_on_epoch_end", 2, {"by_epoch": False, "interval": 5}),
    ("interval_beyond", 2, {"interval": 10}),
):
    case(f"eval_{name}", epochs, hooks=hooks(evaluate={"type": "EvaluationHook", **settings}))
case(
    "eval_step3_log3_keep_last",
    hooks=hooks(
        evaluate={"type": "EvaluationHook", "by_epoch": False, "interval": 3},
        log={"type": "TextLoggerHook", "interval": 3, "ignore_last": False},
    ),
)
case("eval_val_iters", run={"val_iters_per_epoch": 2})
case("eval_val_iters_cfg", evaluation={"val_iters_per_epoch": 3})
case("eval_shuffle_true", evaluation={"dataloader": loader(shuffle=True)}, run={"dropout": 0.3})
case("eval_batch_7_workers_1", evaluation={"dataloader": loader(batch=7, workers=1)})
case(
    "data_no_eval_no_section",
    drop=["evaluation"],
    hooks=hooks(evaluate=None),
    top={"task": "text-classification"},
)

# metrics
case("metrics_loss", evaluation=LOSS)
case("metrics_loss_string", evaluation={"metrics": "loss-metric"})
case("metrics_ppl", evaluation={"metrics": ["ppl"]})
case("metrics_seq_binary", run={"model": "binary", "data": [[38, 2], [18, 2]]})
case("metrics_text_classification_default", drop=["evaluation.metrics"], top={"task": "text-classification"})
for name, metrics in {
    "accuracy": ["accuracy"],
    "accuracy_string": "accuracy",
    "accuracy_dict": [{"type": "accuracy"}],
    "one_dict": {"type": "accuracy"},
    "several": ["accuracy", "seq-cls-metric", "loss-metric"],
}.items():
    case(f"metrics_{name}_with_labels", evaluation={"metrics": metrics}, run={"model": "with_labels"})
case(
    "metrics_loss_key",
    evaluation={"metrics": [{"type": "loss-metric", "loss_key": "aux_loss"}]},
    run={"model": "two_losses"},
)

# log lines
for name, epochs, settings in (
    ("by_epoch_false", 3, {"interval": 4, "by_epoch": False}),
    ("keep_last", 2, {"interval": 4, "ignore_last": False}),
    ("keep_last_by_step", 2, {"interval": 4, "by_epoch": False, "ignore_last": False}),
    ("rounding", 2, {"interval": 2, "rounding_digits": 2}),
    ("no_round_loss", 2, {"interval": 2, "ignore_rounding_keys": ["loss"], "rounding_digits": 3}),
    ("no_round_string", 2, {"interval": 2, "ignore_rounding_keys": "loss"}),
    ("interval_1", 2, {"interval": 1}),
    ("interval_50", 2, {"interval": 50}),
    ("interval_50_keep_last", 2, {"interval": 50, "ignore_last": False}),
    ("out_dir", 2, {"interval": 2, "out_dir": ELSEWHERE}),
    ("eval_by_epoch_log_by_step", 2, {"interval": 5, "by_epoch": False}),
):
    case(f"log_{name}", epochs, hooks=hooks(log={"type": "TextLoggerHook", **settings}))
for name, settings in {
    "tensorboard": {"interval": 3},
    "tensorboard_same": {"interval": 2},
    "tensorboard_by_epoch_false": {"interval": 4, "by_epoch": False, "ignore_last": False},
    "tensorboard_skip_keys": {"interval": 2, "skip_keys": ["loss"]},
}.items():
    case(f"log_{name}", hooks=hooks({**BOARD, **settings}))

# checkpoints
for name, epochs, settings in (
    ("interval2", 5, {"interval": 2}),
    ("interval2_no_last", 5, {"interval": 2, "save_last": False}),
    ("step_not_dividing", 2, {"interval": 7, "by_epoch": False}),
    ("step_not_dividing_no_last", 2, {"interval": 7, "by_epoch": False, "save_last": False}),
    ("step_5", 2, {"interval": 5, "by_epoch": False}),
    ("step_beyond", 2, {"interval": 100, "by_epoch": False}),
    ("strategy_by_step", 2, {"interval": 6, "save_strategy": "by_step"}),
    ("strategy_by_epoch", 2, {"interval": 1, "save_strategy": "by_epoch"}),
    ("strategy_no", 2, {"interval": 1, "save_strategy": "no"}),
    ("interval_0", 2, {"interval": 0}),
    ("keep_1", 4, {"interval": 1, "max_checkpoint_num": 1}),
    ("keep_2", 4, {"interval": 1, "max_checkpoint_num": 2}),
    ("keep_0", 3, {"interval": 1, "max_checkpoint_num": 0}),
    ("keep_step_1", 2, {"interval": 4, "by_epoch": False, "max_checkpoint_num": 1}),
    ("output_sub_dir", 2, {"output_sub_dir": "deploy"}),
    ("output_dir", 2, {"output_dir": ELSEWHERE}),
    ("no_trainer_state", 2, {"save_trainer_state": False}),
    ("save_optimizer_false", 2, {"save_optimizer": False}),
):
    case(f"ck_{name}", epochs, hooks=hooks(checkpoint={"type": "CheckpointHook", **settings}))
case(
    "ck_new_keys_step",
    hooks=[],
    checkpoint={"period": {"interval": 4, "by_epoch": False}},
    logging={"interval": 5},
    evaluation={"period": {"interval": 1}},
)

# best checkpoints
for name, epochs, settings in (
    ("max", 5, {}),
    ("max_keep_2", 6, {"max_checkpoint_num": 2}),
    ("min_keep_2", 6, {"rule": "min", "max_checkpoint_num": 2}),
    ("file_name", 4, {"save_file_name": "winner.pth"}),
    ("file_name_no_ext", 4, {"save_file_name": "winner"}),
    ("restore", 6, {"restore_best": True}),
    ("restore_min", 4, {"rule": "min", "restore_best": True}),
    ("restore_keep_1", 6, {"restore_best": True, "max_checkpoint_num": 1}),
    ("restore_no_state", 6, {"restore_best": True, "save_trainer_state": False}),
    ("own_by_epoch_false", 2, {"by_epoch": False, "interval": 2}),
    ("output_sub_dir", 3, {"output_sub_dir": "best_here"}),
    ("f1_no_state", 3, {"metric_key": "macro-f1", "save_trainer_state": False}),
    ("save_best_key", 2, {"save_best": True}),
):
    case(f"best_{name}", epochs, hooks=hooks({**BEST, **settings}))
case("best_max_equal_scores", 4, optimizer=STILL, hooks=hooks({**BEST, "max_checkpoint_num": 3}))
case("best_min_loss", 5, LOSS, hooks=hooks({**BEST, "metric_key": "loss", "rule": "min"}))
case("best_no_ckpt_hook", 3, hooks=[LOG, TIMER, EVAL, BEST])
case(
    "best_by_step",
    hooks=hooks(
        {**BEST, "max_checkpoint_num": 1},
        evaluate={"type": "EvaluationHook", "by_epoch": False, "interval": 3},
    ),
)
case("best_eval_interval2", 5, hooks=hooks(BEST, evaluate={**EVAL, "interval": 2}))

# ReduceLROnPlateau
BY_4 = {**EVAL, "interval": 4, "by_epoch": False}
for name, epochs, evaluate, settings in (
    ("by_epoch_eval_2", 6, {**EVAL, "interval": 2}, {}),
    ("by_step_eval_4", 3, BY_4, {"by_epoch": False}),
    ("interval_2", 5, EVAL, {"interval": 2}),
    ("by_step_interval_5", 3, EVAL, {"by_epoch": False, "interval": 5}),
    ("eval_by_step_hook_by_epoch", 3, BY_4, {}),
):
    case(
        f"pl_{name}",
        epochs,
        hooks=hooks(evaluate=evaluate),
        lr_scheduler=PLATEAU,
        lr_scheduler_hook={**PLATEAU_HOOK, **settings},
    )
case("pl_cfg_in_options", 3, lr_scheduler=on(PLATEAU, by_epoch=True), lr_scheduler_hook=PLATEAU_HOOK)
case(
    "pl_min_loss",
    5,
    LOSS,
    lr_scheduler={**PLATEAU, "mode": "min"},
    lr_scheduler_hook={**PLATEAU_HOOK, "metric_key": "loss"},
)

# early stop
case("es_default_patience", 9, optimizer=STILL, hooks=hooks(STOP))
case("es_min", 9, hooks=hooks({**STOP, "rule": "min", "patience": 1}))
case("es_min_delta", 9, hooks=hooks({**STOP, "patience": 1, "min_delta": 0.2}))
ON_LOSS = {**STOP, "metric_key": "loss", "rule": "min"}
case("es_min_delta_loss_min", 9, LOSS, hooks=hooks({**ON_LOSS, "patience": 2, "min_delta": 0.05}))
case(
    "es_by_step_interval",
    6,
    optimizer=STILL,
    hooks=hooks(
        {**STOP, "by_epoch": False, "interval": 5, "patience": 2},
        evaluate={**EVAL, "by_epoch": False, "interval": 5},
    ),
)
case(
    "es_strategy_by_step",
    6,
    optimizer=STILL,
    hooks=hooks(
        {**STOP, "early_stop_strategy": "by_step", "interval": 4, "patience": 2},
        evaluate={**EVAL, "by_epoch": False, "interval": 4},
    ),
)
case("es_strategy_no", 6, optimizer=STILL, hooks=hooks({**STOP, "early_stop_strategy": "no", "patience": 1}))
case("es_interval_2", 9, optimizer=STILL, hooks=hooks({**STOP, "interval": 2, "patience": 1}))
case("es_patience_0", 5, optimizer=STILL, hooks=hooks({**STOP, "patience": 0}))
HUGE = {"type": "SGD", "lr": 1e30}
case("es_check_finite", 6, LOSS, optimizer=HUGE, hooks=hooks(ON_LOSS))
case(
    "es_check_finite_false",
    6,
    LOSS,
    optimizer=HUGE,
    hooks=hooks({**ON_LOSS, "check_finite": False, "patience": 2}),
)
case(
    "es_eval_interval2",
    9,
    optimizer=STILL,
    hooks=hooks({**STOP, "patience": 2}, evaluate={**EVAL, "interval": 2}),
)

# data and the length of a run
case("data_iterable_cfg_iters", train_iters_per_epoch=5, evaluation={"val_iters_per_epoch": 2}, run=STREAM)
case("data_iterable_runs_short", run={**STREAM, "train_iters_per_epoch": 12, "val_iters_per_epoch": 7})
case("data_iters_smaller", run={"train_iters_per_epoch": 6})
case("data_iters_larger", run={"train_iters_per_epoch": 15})
case("data_iters_smaller_accum", 3, optimizer=sgd(cumulative_iters=4), run={"train_iters_per_epoch": 6})
case("data_drop_last", dataloader=loader(drop_last=True))
case("data_no_shuffle", dataloader=loader(shuffle=False))
case("data_batch_7", dataloader=loader(batch=7))
case("data_batch_50", dataloader=loader(batch=50))
case("data_workers_1", dataloader=loader(workers=1))
case("data_workers_2_persistent", dataloader=loader(workers=2, persistent_workers=True))
case("run_max_epochs", 5, run={"max_epochs": 2})
case("run_one_epoch", 1)
case("run_one_sample_batches", 1, dataloader=loader(batch=1), run={"data": [[3], [18]]})
case("run_remove_unused", run={"remove_unused_data": True})

# many things at once
case(
    "combo_everything",
    4,
    run={"dropout": 0.2, "data": [[41], [19]]},
    dataloader=loader(batch=5, drop_last=True),
    optimizer={
        "type": "AdamW",
        "lr": 0.02,
        "options": {"cumulative_iters": 3, "grad_clip": {"max_norm": 1.0, "norm_type": 2}},
    },
    lr_scheduler=warm({**COSINE, "T_max": 30}, "LinearWarmup", 6, False, warmup_ratio=0.3),
    hooks=hooks(
        {**BEST, "max_checkpoint_num": 2},
        {**BOARD, "interval": 4},
        {**STOP, "patience": 3},
        evaluate={"type": "EvaluationHook", "by_epoch": False, "interval": 5},
        checkpoint={"type": "CheckpointHook", "by_epoch": False, "interval": 6, "max_checkpoint_num": 2},
        log={**LOG, "interval": 3},
    ),
)
case(
    "combo_new_keys",
    3,
    hooks=[TIMER, {**BOARD, "interval": 3}],
    dataloader=loader(batch=5),
    optimizer={"type": "Adam", "lr": 0.02, "options": {"cumulative_iters": 2}},
    lr_scheduler=warm({"type": "ExponentialLR", "gamma": 0.5}, "ExponentialWarmup", 2, True, warmup_ratio=0.1),
    checkpoint={
        "period": {"interval": 2},
        "best": {"metric_key": "macro-f1", "rule": "max", "max_checkpoint_num": 1},
    },
    logging={"interval": 3, "by_epoch": False, "rounding_digits": 3},
    evaluation={"period": {"interval": 1}, "metrics": ["seq-cls-metric", "loss-metric"]},
)
