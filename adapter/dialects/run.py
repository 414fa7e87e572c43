"""The ``run:`` schema: a table from its keys to the documented ones.

It is read by ``explain``; this version does not train from such a file.
"""

from __future__ import annotations

from collections.abc import Mapping

from adapter.dialects.move import Move, MoveFate, covers

SECTIONS = ("run", "datasets", "env")  # top-level keys that only this schema has
NOT_RUN = "this version does not train from the run: schema"

# Key -> fate, documented key it corresponds to, reason. A section's entry covers the keys below it.
TABLE: Mapping[str, tuple[MoveFate, str, str]] = {
    "model": ("same", "model", "passed to the model's from_config"),
    "dataset": ("same", "dataset", "train_cfg and val_cfg, by their name"),
    "datasets": ("moved", "dataset", "each data set by its name, joined"),
    "env": ("dropped", "", "folders of the author's machine"),
    "run.task": ("same", "task", "the task's name"),
    "run.max_epoch": ("moved", "train.max_epochs", ""),
    "run.max_iters": ("moved", "train.max_epochs", "with iters_per_inner_epoch, the number of inner epochs"),
    "run.iters_per_inner_epoch": ("moved", "train.train_iters_per_epoch", ""),
    "run.iters_per_epoch": ("moved", "train.train_iters_per_epoch", ""),
    "run.output_dir": ("moved", "train.work_dir", "a run writes to a folder of its own below it"),
    "run.batch_size": ("moved", "train.dataloader.batch_size_per_gpu", ""),
    "run.batch_size_train": ("moved", "train.dataloader.batch_size_per_gpu", ""),
    "run.batch_size_val": ("moved", "evaluation.dataloader.batch_size_per_gpu", ""),
    "run.batch_size_eval": ("moved", "evaluation.dataloader.batch_size_per_gpu", ""),
    "run.num_worker": ("moved", "train.dataloader.workers_per_gpu", "for both loaders"),
    "run.num_workers": ("moved", "train.dataloader.workers_per_gpu", "for both loaders"),
    "run.init_lr": ("moved", "train.optimizer.lr", "of AdamW"),
    "run.weight_decay": (
        "moved",
        "train.optimizer.weight_decay",
        "of AdamW, over the model's get_optimizer_params",
    ),
    "run.beta2": ("moved", "train.optimizer.betas", "betas are (0.9, beta2)"),
    "run.lr_layer_decay": (
        "moved",
        "train.optimizer.param_groups",
        "lr_scale of the model's get_optimizer_params",
    ),
    "run.accum_grad_iters": ("moved", "train.optimizer.options.cumulative_iters", "restarts each epoch"),
    "run.grad_norm_clip": ("moved", "train.optimizer.options.grad_clip.max_norm", ""),
    "run.lr_sched": ("moved", "train.lr_scheduler.type", ""),
    "run.lr_decay_rate": ("moved", "train.lr_scheduler.decay_rate", ""),
    "run.min_lr": ("moved", "train.lr_scheduler.min_lr", ""),
    "run.warmup_lr": ("moved", "train.lr_scheduler.warmup_lr", "negative: init_lr"),
    "run.warmup_steps": ("moved", "train.lr_scheduler.warmup_steps", "iterations of the first epoch"),
    "run.warmup_ratio": ("moved", "train.lr_scheduler.warmup_ratio", "of all iterations"),
    "run.log_freq": ("moved", "train.logging.interval", ""),
    "run.save_freq": ("moved", "train.checkpoint.period.interval", ""),
    "run.eval_freq": ("moved", "evaluation.period.interval", "and after the last epoch"),
    "run.amp": ("moved", "train.use_fp16", "in the format of autocast_dtype"),
    "run.autocast_dtype": ("moved", "train.use_fp16", "fp16 or bf16"),
    "run.loss_scale": ("moved", "train.optimizer_hook.loss_scale", ""),
    "run.evaluate": ("moved", "", "true is what `adapter validate` does"),
    "run.train_splits": ("same", "dataset.train", ""),
    "run.valid_splits": ("same", "dataset.val", ""),
    "run.test_splits": ("same", "dataset.val", "for `adapter validate`"),
    "run.resume_ckpt_path": ("moved", "", "the checkpoint to go on from"),
    "run.resume_ckpt_load_dir": ("moved", "", "the DeepSpeed checkpoint to go on from"),
    "run.resume_ckpt_tag": ("moved", "", "the DeepSpeed checkpoint to go on from"),
    "run.seed": ("moved", "", "the keyword seed"),
    "run.device": ("moved", "", "the keyword device"),
    "run.runner": ("moved", "", "runner_base, runner_iter or deepspeed_runner"),
    "run.deepspeed_config": ("moved", "train.hooks.DeepspeedHook.config", ""),
    "run.distributed": ("dropped", "", "follows from how the processes are started"),
    "run.dist_url": ("dropped", "", "follows from how the processes are started"),
    "run.world_size": ("dropped", "", "follows from how the processes are started"),
    "run.gpu": ("dropped", "", "follows from how the processes are started"),
    "run.max_len": ("same", "run.max_len", "read by the task"),
    "run.min_len": ("same", "run.min_len", "read by the task"),
    "run.num_beams": ("same", "run.num_beams", "read by the task"),
}


def move_of(path: str) -> Move | None:
    """What the table says about a key path; None for one it does not know."""
    key = next((key for key in TABLE if covers(key, path)), None)
    return Move(key, TABLE[key][1], TABLE[key][0], TABLE[key][2]) if key else None


def keys_of(section: str) -> tuple[str, ...]:
    """The keys that the table knows in a section; the sections themselves when it does not know that one."""
    below = tuple(key.partition(".")[2] for key in TABLE if key.startswith(f"{section}."))
    return below or tuple(dict.fromkeys(key.partition(".")[0] for key in TABLE))
