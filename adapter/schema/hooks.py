"""Arguments of the documented hooks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from adapter.schema.field import Doc

STRATEGY = ("by_epoch", "by_step", "no")
FOLLOWS = "BestCkptSaverHook saves after the best evaluations, whatever its own interval"
FORMATS = ("bfloat16", "float16", "float32")
WARMUPS = ("LinearWarmup", "ConstantWarmup", "ExponentialWarmup")


@dataclass(frozen=True, kw_only=True)
class GradClip:
    """Arguments of ``torch.nn.utils.clip_grad_norm_``, applied before each optimizer step."""

    OPEN = "clip_grad_norm_"

    max_norm: Annotated[float, Doc("Largest norm of all gradients together.", minimum=0)]
    norm_type: Annotated[float | str, Doc("Order of the norm.", choices=("inf",))] = 2.0


@dataclass(frozen=True, kw_only=True)
class OptimizerArguments:
    """``train.optimizer.options``, and the arguments of OptimizerHook."""

    cumulative_iters: Annotated[
        int, Doc("Iterations per optimizer step; losses are divided by it.", unit="iterations", minimum=1)
    ] = 1
    grad_clip: Annotated[GradClip | None, Doc("Gradient clipping; none by default.")] = None
    loss_keys: Annotated[str | list[str], Doc("Names of the losses in the model's output.")] = "loss"


@dataclass(frozen=True, kw_only=True)
class TorchAMPArguments(OptimizerArguments):
    """Arguments of TorchAMPOptimizerHook."""

    loss_scale: Annotated[float | dict | None, Doc("Fixed loss scale, or arguments of GradScaler.")] = None


@dataclass(frozen=True, kw_only=True)
class ApexAMPArguments(OptimizerArguments):
    """Arguments of ApexAMPOptimizerHook."""

    opt_level: Annotated[str, Doc("Apex's level of mixed precision.", choices=("O0", "O1", "O2", "O3"))] = "O1"


@dataclass(frozen=True, kw_only=True)
class Warmup:
    """How the learning rate rises at the start, counted in the schedule's unit (epochs by default)."""

    type: Annotated[str, Doc("Shape of the rise.", choices=WARMUPS)]
    warmup_iters: Annotated[int, Doc("Length, in epochs or iterations as the schedule counts.", minimum=0)]
    warmup_ratio: Annotated[float, Doc("Fraction of the learning rate to start from.", minimum=0)] = 0.1


@dataclass(frozen=True, kw_only=True)
class LrSchedulerArguments:
    """``train.lr_scheduler.options``, and the arguments of LrSchedulerHook."""

    by_epoch: Annotated[bool, Doc("Step after each epoch (true) or each iteration (false).")] = True
    lr_strategy: Annotated[str | None, Doc("Newer spelling of by_epoch, which it overrides.", choices=STRATEGY)] = None
    warmup: Annotated[Warmup | None, Doc("Rise of the rate at the start; none by default.")] = None


@dataclass(frozen=True, kw_only=True)
class PlateauArguments:
    """Arguments of PlateauLrSchedulerHook, which ReduceLROnPlateau needs."""

    metric_key: Annotated[str, Doc("Metric that the schedule watches.")]
    by_epoch: Annotated[bool, Doc("Step after each epoch (true) or each iteration (false).")] = True
    lr_strategy: Annotated[str | None, Doc("Newer spelling of by_epoch, which it overrides.", choices=STRATEGY)] = None
    interval: Annotated[int, Doc("Epochs or iterations between steps.", minimum=0)] = 1


@dataclass(frozen=True, kw_only=True)
class EvaluationArguments:
    """``evaluation.period``, and the arguments of EvaluationHook."""

    interval: Annotated[int, Doc("Epochs or iterations between evaluations; 0 for never.", minimum=0)] = 1
    by_epoch: Annotated[bool, Doc("Count in epochs (true) or iterations (false).")] = True
    eval_strategy: Annotated[str | None, Doc("Newer spelling of by_epoch, which it overrides.", choices=STRATEGY)] = (
        None
    )
    start_idx: Annotated[int | None, Doc("First epoch or iteration, from 1, at which to evaluate.", minimum=0)] = None


@dataclass(frozen=True, kw_only=True)
class SaverArguments:
    """What both checkpoint savers take."""

    interval: Annotated[int, Doc("Epochs or iterations between checkpoints; 0 for the last one only.", minimum=0)] = 1
    by_epoch: Annotated[bool, Doc("Count in epochs (true) or iterations (false).")] = True
    save_strategy: Annotated[str | None, Doc("Newer spelling of by_epoch, which it overrides.", choices=STRATEGY)] = (
        None
    )
    save_optimizer: Annotated[bool, Doc("Save the optimizer's state as well.")] = True
    save_dir: Annotated[str | None, Doc("Folder of the checkpoints; the work directory by default.")] = None
    output_dir: Annotated[str | None, Doc("Folder for the exported model; output/ in save_dir by default.")] = None
    output_sub_dir: Annotated[str | None, Doc("Name of the exported model's folder in save_dir.")] = None
    save_last: Annotated[bool, Doc("Save after the last epoch or iteration even when none is due.")] = True
    max_checkpoint_num: Annotated[int | None, Doc("Checkpoints kept; all of them by default.", minimum=0)] = None
    save_trainer_state: Annotated[bool, Doc("Save what a resume needs beside the weights.")] = True
    save_trainable_only: Annotated[
        bool, Doc("Leave out the weights that are not trained; they come from the model again.")
    ] = False
    save_file_name: Annotated[str | None, Doc("Fixed file name in place of one with epoch and metric.")] = None
    push_to_hub: Annotated[bool, Doc("Upload checkpoints to a model hub.")] = False
    hub_repo_id: Annotated[str | None, Doc("Repository to upload to.")] = None
    hub_token: Annotated[str | None, Doc("Token for the upload.")] = None
    private_hub: Annotated[bool, Doc("Make the repository private.")] = True
    hub_revision: Annotated[str, Doc("Branch to upload to.")] = "master"
    upload_strategy: Annotated[
        str, Doc("What a new upload does to one that is running.", choices=("cancel", "wait"))
    ] = "cancel"


@dataclass(frozen=True, kw_only=True)
class BestArguments(SaverArguments):
    """``train.checkpoint.best``, and the arguments of BestCkptSaverHook, which follows the evaluations."""

    interval: Annotated[int, Doc("Accepted.", minimum=0, no_effect=FOLLOWS)] = 1
    by_epoch: Annotated[bool, Doc("Accepted.", no_effect=FOLLOWS)] = True
    save_strategy: Annotated[str | None, Doc("Accepted.", choices=STRATEGY, no_effect=FOLLOWS)] = None
    metric_key: Annotated[str, Doc("Metric that decides which checkpoint is best.")]
    rule: Annotated[str, Doc("Whether the greatest or the smallest value is best.", choices=("max", "min"))] = "max"
    save_best: Annotated[bool, Doc("Save when an evaluation is the best so far.")] = True
    restore_best: Annotated[bool, Doc("Load the best weights when training ends.")] = False
    max_checkpoint_num: Annotated[int | None, Doc("Best checkpoints kept.", minimum=0)] = 1


@dataclass(frozen=True, kw_only=True)
class LoggerArguments:
    """``train.logging``, and the arguments of TextLoggerHook."""

    interval: Annotated[int, Doc("Iterations between lines.", unit="iterations", minimum=0)] = 10
    by_epoch: Annotated[bool, Doc("Number the lines within the epoch (true) or over the run (false).")] = True
    ignore_last: Annotated[bool, Doc("Leave out the iterations after the last full interval of an epoch.")] = True
    reset_flag: Annotated[bool, Doc("Empty the averages after each line.")] = False
    out_dir: Annotated[str | None, Doc("Folder of the log files; the work directory by default.")] = None
    ignore_rounding_keys: Annotated[str | list[str] | None, Doc("Values that are written unrounded.")] = "lr"
    rounding_digits: Annotated[int, Doc("Decimals of the values in the JSON log.", minimum=0)] = 5


@dataclass(frozen=True, kw_only=True)
class TensorboardArguments(LoggerArguments):
    """Arguments of TensorboardHook."""

    skip_keys: Annotated[str | list[str] | None, Doc("Values that are not written.")] = None


@dataclass(frozen=True, kw_only=True)
class EarlyStopArguments:
    """Arguments of EarlyStopHook."""

    metric_key: Annotated[str, Doc("Metric that has to improve.")]
    rule: Annotated[str, Doc("Whether greater or smaller values are better.", choices=("max", "min"))] = "max"
    patience: Annotated[int, Doc("Evaluations without improvement before training stops.", minimum=0)] = 3
    min_delta: Annotated[
        float, Doc("Subtracted from the metric before it is compared with the best, under either rule.")
    ] = 0.0
    check_finite: Annotated[bool, Doc("Stop when the metric is not finite.")] = True
    by_epoch: Annotated[bool, Doc("Check after each epoch (true) or iteration (false).")] = True
    early_stop_strategy: Annotated[
        str | None, Doc("Newer spelling of by_epoch, which it overrides.", choices=STRATEGY)
    ] = None
    interval: Annotated[int, Doc("Epochs or iterations between checks.", minimum=0)] = 1


@dataclass(frozen=True, kw_only=True)
class LoadCheckpointArguments:
    """Arguments of LoadCheckpointHook."""

    checkpoint_file: Annotated[str | None, Doc("Either file of a pair, its prefix, or weights.")] = None
    load_all_state: Annotated[bool, Doc("Go on with the run that wrote the pair; false takes its weights only.")] = True
    strict: Annotated[bool, Doc("Refuse weights that lack, or add, parameters.")] = False


@dataclass(frozen=True, kw_only=True)
class DDPArguments:
    """Arguments of DDPHook."""

    launcher: Annotated[str, Doc("What starts the processes.", choices=("pytorch", "mpi", "slurm"))] = "pytorch"


@dataclass(frozen=True, kw_only=True)
class DeepspeedArguments:
    """Arguments of DeepspeedHook."""

    config: Annotated[str | dict | None, Doc("DeepSpeed's config, a file or a mapping.")] = None
    zero_stage: Annotated[
        int | None, Doc("What the processes share out, 0 to 3; 2 where DeepSpeed's config says nothing.", minimum=0)
    ] = None
    save_zero_checkpoint: Annotated[bool, Doc("Save the folder of DeepSpeed's own that a resume needs.")] = True


@dataclass(frozen=True, kw_only=True)
class MixedPrecision:
    """Arguments of ``torch.distributed.fsdp.MixedPrecisionPolicy``."""

    param_dtype: Annotated[str | None, Doc("Number format of gathered parameters.", choices=FORMATS)] = None
    reduce_dtype: Annotated[str | None, Doc("Number format that gradients are shared in.", choices=FORMATS)] = None
    output_dtype: Annotated[str | None, Doc("Number format of a unit's output.", choices=FORMATS)] = None
    cast_forward_inputs: Annotated[bool, Doc("Bring a unit's input into param_dtype.")] = True


@dataclass(frozen=True, kw_only=True)
class FSDPArguments:
    """Arguments of FSDPHook; without wrap_classes and min_params the whole model is one unit."""

    wrap_classes: Annotated[str | list[str] | None, Doc("Classes whose modules are gathered one by one.")] = None
    min_params: Annotated[
        int, Doc("Smallest module that is gathered by itself; 0 for none by size.", unit="parameters", minimum=0)
    ] = 0
    mixed_precision: Annotated[
        str | MixedPrecision | None, Doc("Number format to compute in, or a whole policy.", choices=FORMATS)
    ] = None
    cpu_offload: Annotated[bool, Doc("Keep parameters, gradients and optimizer state in main memory.")] = False
    reshard_after_forward: Annotated[
        bool | None, Doc("Free gathered parameters between forward and backward; torch decides by default.")
    ] = None


@dataclass(frozen=True, kw_only=True)
class MegatronArguments:
    """The ``megatron`` section, and the arguments of MegatronHook."""

    tensor_model_parallel_size: Annotated[int, Doc("Processes that share a layer.", unit="processes", minimum=1)] = 1
    pipeline_model_parallel_size: Annotated[int, Doc("1: there are no pipelines here.", minimum=1)] = 1
    tensor_parallel_plan: Annotated[
        dict | None, Doc("Module name pattern to colwise, rowwise or colwise_rep; the model's method by default.")
    ] = None
    world_size: Annotated[int | None, Doc("Accepted.", no_effect="the processes that are started count")] = None


@dataclass(frozen=True, kw_only=True)
class PstArguments:
    """How SparsityHook prunes with the method ``pst``."""

    weight_rank: Annotated[int, Doc("Rank of the update of a weight.", minimum=1)] = 8
    weight_beta: Annotated[float, Doc("Factor of that update.")] = 1.0
    mask_rank: Annotated[int, Doc("Rank of the update of the importance of single entries.", minimum=1)] = 8
    mask_alpha1: Annotated[float, Doc("Factor of that update.")] = 1.0
    mask_alpha2: Annotated[float, Doc("Factor of the importance of whole rows and columns.")] = 1.0
    frequency: Annotated[int, Doc("Iterations between changes.", unit="iterations", minimum=1)] = 1
    initial_warmup: Annotated[float, Doc("Fraction of the run before the sparsity rises.", minimum=0)] = 0.1
    final_warmup: Annotated[float, Doc("Fraction of the run after it has risen.", minimum=0)] = 0.3
    initial_sparsity: Annotated[float, Doc("Fraction of weights dropped at the start.", minimum=0)] = 0.0
    final_sparsity: Annotated[float, Doc("Fraction of weights dropped at the end.", minimum=0)] = 0.0
    compress_module: Annotated[str | list[str], Doc("Modules to prune; all linear layers by default.")] = ""


@dataclass(frozen=True, kw_only=True)
class SparsityArguments:
    """Arguments of SparsityHook."""

    pruning_method: Annotated[str, Doc("How weights are removed.", choices=("pst",))]
    config: Annotated[PstArguments | None, Doc("Settings of the method.")] = None
    save_dir: Annotated[str | None, Doc("Folder of the pruned model; the work directory by default.")] = None


@dataclass(frozen=True, kw_only=True)
class SwiftArguments:
    """Arguments of SwiftHook."""

    efficient_tuners: Annotated[
        dict | None, Doc("Adapters on the model: {type: lora, ...}, or such by name; the keyword wins.")
    ] = None


@dataclass(frozen=True, kw_only=True)
class EMAArguments:
    """``train.ema``, and the arguments of EMAHook."""

    decay: Annotated[float, Doc("Share of the average that a step leaves as it is, from 0 to 1.", minimum=0)] = 0.999


@dataclass(frozen=True, kw_only=True)
class LoggersArguments:
    """Arguments of LoggersHook; its key is ``train.loggers``."""

    loggers: Annotated[
        str | dict | list[str | dict], Doc("csv, tensorboard, wandb or mlflow; or {type: wandb, **arguments}.")
    ]


@dataclass(frozen=True, kw_only=True)
class NoArguments:
    """A hook that takes none."""


@dataclass(frozen=True, kw_only=True)
class AnyArguments:
    """Arguments that are checked when the hook is built."""

    OPEN = "hook"


# Documented hook -> its arguments.
ARGUMENTS: Mapping[str, type] = {
    "OptimizerHook": OptimizerArguments,
    "TorchAMPOptimizerHook": TorchAMPArguments,
    "ApexAMPOptimizerHook": ApexAMPArguments,
    "NoneOptimizerHook": OptimizerArguments,
    "LrSchedulerHook": LrSchedulerArguments,
    "PlateauLrSchedulerHook": PlateauArguments,
    "NoneLrSchedulerHook": LrSchedulerArguments,
    "EvaluationHook": EvaluationArguments,
    "CheckpointHook": SaverArguments,
    "BestCkptSaverHook": BestArguments,
    "LoadCheckpointHook": LoadCheckpointArguments,
    "TextLoggerHook": LoggerArguments,
    "TensorboardHook": TensorboardArguments,
    "IterTimerHook": NoArguments,
    "EarlyStopHook": EarlyStopArguments,
    "DDPHook": DDPArguments,
    "DeepspeedHook": DeepspeedArguments,
    "DeepSpeedHook": DeepspeedArguments,
    "MegatronHook": MegatronArguments,
    "FSDPHook": FSDPArguments,
    "SparsityHook": SparsityArguments,
    "ClipClampLogitScaleHook": AnyArguments,
    "SwiftHook": SwiftArguments,
    "EMAHook": EMAArguments,
    "LoggersHook": LoggersArguments,
}
