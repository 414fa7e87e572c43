"""The ``train`` section."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from adapter.schema.field import Doc
from adapter.schema.hooks import (
    ARGUMENTS,
    BestArguments,
    EMAArguments,
    LoggerArguments,
    LrSchedulerArguments,
    OptimizerArguments,
    SaverArguments,
)
from adapter.schema.search import MODES, LrFind, ScaleBatchSize


@dataclass(frozen=True, kw_only=True)
class DataLoader:
    """A data loader: what ``torch.utils.data.DataLoader`` takes, less what is passed in code."""

    batch_size_per_gpu: Annotated[
        int, Doc("Samples per batch and process.", unit="samples", minimum=1, target="batch_size")
    ] = 1
    workers_per_gpu: Annotated[
        int, Doc("Processes that load data, per training process.", minimum=0, target="num_workers")
    ] = 0
    shuffle: Annotated[bool | None, Doc("Draw a new order each epoch; true for training, false for evaluation.")] = None
    drop_last: Annotated[bool, Doc("Leave out a last batch that is not full.")] = False
    pin_memory: Annotated[bool, Doc("Load into page-locked memory, from which a GPU copies faster.")] = False
    persistent_workers: Annotated[bool, Doc("Keep the loading processes between epochs.")] = False
    prefetch_factor: Annotated[
        int | None, Doc("Batches loaded ahead by each loading process.", unit="batches", minimum=1)
    ] = None
    timeout: Annotated[float, Doc("Longest wait for a batch; 0 waits forever.", unit="seconds", minimum=0)] = 0
    multiprocessing_context: Annotated[
        str | None, Doc("How loading processes start.", choices=("fork", "spawn", "forkserver"))
    ] = None
    pin_memory_device: Annotated[str, Doc("Device that pin_memory is for.")] = ""
    in_order: Annotated[bool, Doc("Give batches in the order of the sampler, not as they become ready.")] = True


@dataclass(frozen=True, kw_only=True)
class ParamGroup:
    """Parameters with settings of their own: those whose name matches, first match wins."""

    OPEN = "parameter group"

    regex: Annotated[str | None, Doc("Regular expression, searched for in the parameter's name.")] = None
    lr: Annotated[float | None, Doc("Learning rate of the group.", minimum=0)] = None
    weight_decay: Annotated[float | None, Doc("Weight decay of the group.", minimum=0)] = None


@dataclass(frozen=True, kw_only=True)
class Optimizer:
    """The optimizer; other keys are arguments of its class."""

    OPEN = "optimizer"

    type: Annotated[str, Doc("Class of torch.optim, a registered name or an import path.", target="class")]
    lr: Annotated[float | None, Doc("Learning rate.", minimum=0)] = None
    weight_decay: Annotated[float | None, Doc("Weight decay.", minimum=0)] = None
    param_groups: Annotated[list[ParamGroup] | None, Doc("Parameters with settings of their own.")] = None
    options: Annotated[
        OptimizerArguments | None,
        Doc("Accumulation, clipping, losses.", target="OptimizerHook", hook="OptimizerHook"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class LrScheduler:
    """The learning rate schedule; other keys are arguments of its class."""

    OPEN = "schedule"

    type: Annotated[str, Doc("Class of torch.optim.lr_scheduler, a registered name or an import path.", target="class")]
    T_max: Annotated[int | None, Doc("Length of a cosine schedule, in its unit.", minimum=1)] = None
    total_iters: Annotated[int | None, Doc("Length of the schedule, in its unit.", minimum=0)] = None
    options: Annotated[
        LrSchedulerArguments | None, Doc("Unit and warmup.", target="LrSchedulerHook", hook="LrSchedulerHook")
    ] = None


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """Which checkpoints are kept."""

    period: Annotated[SaverArguments | None, Doc("Checkpoints at regular intervals.", hook="CheckpointHook")] = None
    best: Annotated[BestArguments | None, Doc("Checkpoints of the best evaluations.", hook="BestCkptSaverHook")] = None


@dataclass(frozen=True, kw_only=True)
class GradientCheckpointing:
    """Which modules compute twice."""

    modules: Annotated[
        str | list[str] | None,
        Doc("Names of modules, or patterns of names; a model of transformers chooses itself."),
    ] = None
    use_reentrant: Annotated[bool, Doc("Use torch's older way of doing so.")] = False


@dataclass(frozen=True, kw_only=True)
class Train:
    """Everything about training."""

    max_epochs: Annotated[
        int | None,
        Doc(
            "Epochs to train; the keyword max_epochs wins.",
            unit="epochs",
            minimum=1,
            target="Trainer: max_epochs",
        ),
    ] = None
    num_steps: Annotated[
        int | None,
        Doc(
            "Iterations to train, where max_epochs is not given; the last epoch is a whole one.",
            unit="iterations",
            minimum=1,
            target="Trainer: max_epochs",
        ),
    ] = None
    work_dir: Annotated[str | None, Doc("Folder that everything is written to.", target="work directory")] = (
        "./work_dir"
    )
    dataloader: Annotated[DataLoader | None, Doc("Loader of the training data.", target="training data loader")] = None
    optimizer: Annotated[Optimizer | None, Doc("What updates the weights.", target="optimizer")] = None
    lr_scheduler: Annotated[
        LrScheduler | None, Doc("How the learning rate changes.", target="learning rate schedule")
    ] = None
    optimizer_hook: Annotated[
        dict | None, Doc("Complete hook in place of OptimizerHook (old spelling).", sections=ARGUMENTS)
    ] = None
    lr_scheduler_hook: Annotated[
        dict | None, Doc("Complete hook in place of LrSchedulerHook (old spelling).", sections=ARGUMENTS)
    ] = None
    hooks: Annotated[list[dict] | None, Doc("Hooks, each a mapping with its type.", sections=ARGUMENTS)] = None
    checkpoint: Annotated[Checkpoint | None, Doc("Checkpoints.")] = None
    logging: Annotated[LoggerArguments | None, Doc("Log lines.", hook="TextLoggerHook")] = None
    loggers: Annotated[
        str | dict | list[str | dict] | None,
        Doc("Where log lines go besides: csv, tensorboard, wandb, mlflow; or {type: wandb, ...}.", hook="LoggersHook"),
    ] = None
    ema: Annotated[bool | EMAArguments | None, Doc("Evaluate and keep an average of the weights.", hook="EMAHook")] = (
        None
    )
    gradient_checkpointing: Annotated[
        bool | GradientCheckpointing | None,
        Doc("Compute parts of the forward pass twice, to use less memory.", target="gradient checkpointing"),
    ] = None
    fast_dev_run: Annotated[
        bool | int,
        Doc(
            "Only try: one optimizer step, or so many iterations, an evaluation as short, and no checkpoints.",
            unit="iterations",
            minimum=0,
            target="Trainer: limits",
        ),
    ] = False
    lr_find: Annotated[
        bool | LrFind | None,
        Doc(
            "Find a learning rate before the run, by Lightning's Tuner, in place of train.optimizer.lr.",
            target="Tuner: lr_find",
        ),
    ] = None
    scale_batch_size: Annotated[
        bool | str | ScaleBatchSize | None,
        Doc(
            "Find the largest batch size that memory allows, by Lightning's Tuner, in place of "
            "train.dataloader.batch_size_per_gpu.",
            choices=MODES,
            target="Tuner: scale_batch_size",
        ),
    ] = None
    profiler: Annotated[
        str | dict | None,
        Doc("Measure where time goes: simple, advanced, pytorch; or {type: simple, ...}.", target="Trainer: profiler"),
    ] = None
    train_iters_per_epoch: Annotated[
        int | None,
        Doc(
            "Iterations in an epoch; needed for data without length.",
            unit="iterations",
            minimum=1,
            target="length of an epoch",
        ),
    ] = None
    use_fp16: Annotated[bool, Doc("Mixed precision with 16-bit floats.", target="precision 16-mixed")] = False
    parallel: Annotated[dict | None, Doc("Arguments of DistributedDataParallel.", target="DistributedDataParallel")] = (
        None
    )
