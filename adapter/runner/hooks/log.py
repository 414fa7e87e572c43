"""RunLogHook: log.txt with the config and a line a phase, and lines on the console in between."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter.hooks.logger import LoggerHook

if TYPE_CHECKING:
    from adapter.runner.trainer import RunTrainer


class RunLogHook(LoggerHook):
    """Writes ``log.txt``: the config, then one JSON object for each training epoch and each evaluation.

    Args:
        interval: Iterations between lines on the console, within the epoch.
        out_dir: Folder of ``log.txt`` and of ``result/``; the trainer's work_dir by default.
    """

    RANK = -30

    def __init__(self, interval: int = 50, out_dir: str | None = None) -> None:
        super().__init__(interval)
        self.out_dir = out_dir

    def before_run(self, trainer: RunTrainer) -> None:
        """Begin the file."""
        super().before_run(trainer)
        self.begin(trainer)

    def begin(self, trainer: RunTrainer) -> None:
        """Make the run's folder, and write the config."""
        self.out_dir = self.out_dir or trainer.work_dir
        if trainer.is_main_process:
            Path(self.out_dir, "result").mkdir(parents=True, exist_ok=True)
            self.append(json.dumps(trainer.run_config, indent=4, ensure_ascii=False, default=str))

    def after_train_epoch(self, trainer: RunTrainer) -> None:
        """Write the epoch's means and what an evaluation of it came to."""
        self.write_training(trainer)
        self.write_evaluations(trainer)
        super().after_train_epoch(trainer)

    def write_training(self, trainer: RunTrainer) -> None:
        """The line of an epoch: the mean over iterations and processes of the rate and of what the task logs."""
        history = trainer.log_buffer.val_history
        own = {name: sum(values) / len(values) for name, values in history.items() if values}
        everybody = trainer.processes.gather(own)
        means = {name: sum(each[name] for each in everybody) / len(everybody) for name in own}
        line = {f"train_{name}": f"{value:.6f}" for name, value in means.items()}
        if trainer.is_main_process:
            trainer.logger.info("Averaged stats: %s", ", ".join(f"{name}: {value}" for name, value in line.items()))
            self.append(json.dumps(line))

    def write_evaluations(self, trainer: RunTrainer) -> None:
        """A line for each split that was evaluated, with the best epoch so far."""
        for split, values in trainer.evaluations.items():
            line = {**values, **({} if trainer.best_epoch is None else {"best_epoch": trainer.best_epoch})}
            if values and trainer.is_main_process:
                self.append(json.dumps({f"{split}_{name}": value for name, value in line.items()}, default=str))

    def append(self, text: str) -> None:
        """Add lines to the file."""
        with Path(self.out_dir or "", "log.txt").open("a", encoding="utf-8") as file:
            file.write(f"{text}\n")

    def log(self, trainer: RunTrainer) -> None:
        """Write a line for people."""
        values = ", ".join(f"{name}: {_short(value)}" for name, value in trainer.log_buffer.output.items())
        if trainer.mode == "train":
            place = f"[{trainer.inner_iter + 1}/{trainer.iters_per_epoch}]"
            trainer.logger.info("Train: epoch [%d] %s  %s", trainer.epoch, place, values)
        else:
            trainer.logger.info("Evaluation: epoch [%d]  %s", trainer.epoch, values)


def _short(value: Any) -> Any:
    return f"{value:.6f}" if isinstance(value, float) else value
