"""The ``run`` section of a ``run:`` config, each key under the source project's spelling and LAVIS's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from adapter.schema.field import Doc

RUNNERS = ("runner_base", "runner_iter", "deepspeed_runner")


@dataclass(frozen=True, kw_only=True)
class RunSection:
    """How a model is trained; other keys are read by the task."""

    OPEN = "run"

    task: Annotated[str | None, Doc("Registered task.")] = None
    runner: Annotated[str | None, Doc("Kind of loop.", choices=RUNNERS)] = "runner_base"
    evaluate: Annotated[bool, Doc("Evaluate only.")] = False
    max_epoch: Annotated[int | None, Doc("Epochs.", unit="epochs", minimum=1)] = None
    max_iters: Annotated[int | None, Doc("Iterations, for runner_iter.", unit="iterations", minimum=1)] = None
    iters_per_inner_epoch: Annotated[
        int | None, Doc("Iterations between evaluations, for runner_iter.", unit="iterations", minimum=1)
    ] = None
    iters_per_epoch: Annotated[
        int | None, Doc("Iterations an epoch, whatever the length of the data.", unit="iterations", minimum=1)
    ] = None
    batch_size: Annotated[int | None, Doc("Samples a batch and process.", unit="samples", minimum=1)] = None
    batch_size_train: Annotated[int | None, Doc("The same.", unit="samples", minimum=1)] = None
    batch_size_val: Annotated[int | None, Doc("Samples an evaluation batch.", unit="samples", minimum=1)] = None
    batch_size_eval: Annotated[int | None, Doc("The same.", unit="samples", minimum=1)] = None
    num_worker: Annotated[int | None, Doc("Processes that load data.", minimum=0)] = None
    num_workers: Annotated[int | None, Doc("The same.", minimum=0)] = None
    lr_sched: Annotated[str | None, Doc("Registered schedule.")] = None
    init_lr: Annotated[float | None, Doc("Learning rate after the warmup.", minimum=0)] = None
    min_lr: Annotated[float | None, Doc("Lowest learning rate.", minimum=0)] = None
    lr_decay_rate: Annotated[float | None, Doc("Factor an epoch, for linear_warmup_step_lr.", minimum=0)] = None
    warmup_lr: Annotated[float | None, Doc("Learning rate of the first step; negative for init_lr.")] = None
    warmup_steps: Annotated[int | None, Doc("Length of the warmup.", unit="iterations", minimum=0)] = None
    warmup_ratio: Annotated[float | None, Doc("The same, as a part of all iterations.", minimum=0)] = None
    warmup_scope: Annotated[
        str | None, Doc("Whether a warmup may be longer than the first epoch.", choices=("epoch", "global"))
    ] = None
    lr_layer_decay: Annotated[float | None, Doc("lr_scale of the model's get_optimizer_params.", minimum=0)] = None
    weight_decay: Annotated[float | None, Doc("Weight decay of AdamW.", minimum=0)] = None
    beta2: Annotated[float | None, Doc("Second beta of AdamW; the first is 0.9.", minimum=0)] = None
    accum_grad_iters: Annotated[int | None, Doc("Iterations an optimizer step.", unit="iterations", minimum=1)] = None
    grad_norm_clip: Annotated[float | None, Doc("Largest norm of all gradients together.", minimum=0)] = None
    log_freq: Annotated[int | None, Doc("Iterations between lines on the console.", minimum=1)] = None
    eval_freq: Annotated[int | None, Doc("Epochs between evaluations.", unit="epochs", minimum=1)] = None
    save_freq: Annotated[int | None, Doc("Epochs between checkpoints.", unit="epochs", minimum=1)] = None
    output_dir: Annotated[str | None, Doc("Folder in which each run makes one of its own.")] = None
    resume_ckpt_path: Annotated[str | None, Doc("Checkpoint to go on from.")] = None
    amp: Annotated[bool | None, Doc("Mixed precision.")] = None
    autocast_dtype: Annotated[
        str | None, Doc("Its number format.", choices=("fp16", "float16", "bf16", "bfloat16", "fp32", "float32"))
    ] = None
    seed: Annotated[int | None, Doc("Of every random number generator.", minimum=0)] = None
    device: Annotated[str | None, Doc("Where the model is: cuda, cpu.")] = None
    train_splits: Annotated[list[str] | None, Doc("Trained on.")] = None
    valid_splits: Annotated[list[str] | None, Doc("Evaluated during training.")] = None
    test_splits: Annotated[list[str] | None, Doc("Evaluated after training, with the best weights.")] = None
    deepspeed_config: Annotated[dict | None, Doc("DeepSpeed's own config.")] = None
    hooks: Annotated[list[dict] | None, Doc("Hooks of the user's own and Lightning callbacks, {type, ...}.")] = None
