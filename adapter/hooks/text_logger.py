"""TextLoggerHook: log lines for people (console and .log) and for programs (.log.json)."""

from __future__ import annotations

import datetime
import json
import os
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from adapter.aside import close_quietly, refused_by_name
from adapter.hooks.logger import LoggerHook
from adapter.registry import HOOKS

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer

OWN_FORMAT = ("mode", "epoch", "iter", "lr", "iter_time", "data_load_time", "memory", "eta")


@HOOKS.register_module()
class TextLoggerHook(LoggerHook):
    """Writes a line to the log and one JSON object to ``<timestamp>.log.json``.

    Args:
        by_epoch: Count the interval within the epoch (True) or over the whole run (False).
        interval: Iterations between lines.
        ignore_last: Write no line for the iterations left over at the end of an epoch.
        out_dir: Folder of the JSON file; the trainer's work_dir by default.
        ignore_rounding_keys: Name or names of values written with all their digits.
        rounding_digits: Digits after the point of all other values in the JSON file.
    """

    RANK = -30

    def __init__(
        self,
        by_epoch: bool = True,
        interval: int = 10,
        ignore_last: bool = True,
        out_dir: str | None = None,
        ignore_rounding_keys: str | Sequence[str] | None = "lr",
        rounding_digits: int = 5,
    ) -> None:
        super().__init__(interval=interval, ignore_last=ignore_last, by_epoch=by_epoch)
        self.out_dir = out_dir
        keys = [ignore_rounding_keys] if isinstance(ignore_rounding_keys, str) else ignore_rounding_keys or []
        self.ignore_rounding_keys = list(keys)
        self.rounding_digits = rounding_digits
        self.json_path = ""
        self._training_seconds = 0.0
        self._start_iter = 0
        self._file: IO[str] | None = None

    def before_run(self, trainer: EpochBasedTrainer) -> None:
        """Settle where the JSON file is."""
        super().before_run(trainer)
        self.out_dir = self.out_dir or trainer.work_dir
        self.json_path = os.path.join(self.out_dir, f"{trainer.timestamp}.log.json")
        self._start_iter = trainer.iter
        trainer.logger.info("Text logs will be saved to %s", self.out_dir)

    def log(self, trainer: EpochBasedTrainer) -> None:
        """Write the line, on the main process."""
        line = self.line(trainer)
        if trainer.is_main_process:
            self.write_json(line)
            trainer.logger.info(self.text(trainer, line))

    def line(self, trainer: EpochBasedTrainer) -> dict[str, Any]:
        """The values of the line: where the run is, then what the log buffer holds.

        ``iter`` counts from 1, within the epoch or, without ``by_epoch``, over the run; in a line about an evaluation
        it is the number of its iterations.
        """
        training = trainer.mode == "train"
        place = (trainer.inner_iter if self.by_epoch else trainer.iter) + 1 if training else trainer.eval_iters
        line: dict[str, Any] = {"mode": trainer.mode, "epoch": trainer.epoch + 1, "iter": place}
        line.update((name, _plain(value)) for name, value in trainer.log_buffer.output.items())
        if training and "memory" not in line and trainer.device.type == "cuda":
            line["memory"] = _peak_memory_mb(trainer)
        return line

    def write_json(self, line: dict[str, Any]) -> None:
        """Append the line, rounded, to the JSON file, which is opened for the first one."""
        rounded = {name: self.rounded(name, value) for name, value in line.items()}
        with refused_by_name(Path(self.json_path)):
            if self._file is None:
                os.makedirs(self.out_dir or ".", exist_ok=True)
                self._file = open(self.json_path, "a", encoding="utf-8", buffering=1)  # noqa: SIM115  until after_run
                weakref.finalize(self, close_quietly, self._file)  # or, in a run that fails, with the hook
            self._file.write(json.dumps(rounded, ensure_ascii=False) + "\n")

    def after_run(self, trainer: EpochBasedTrainer) -> None:
        """Close the JSON file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def rounded(self, name: str, value: Any) -> Any:
        """A value as it goes into the JSON file."""
        if name in self.ignore_rounding_keys:
            return value
        if isinstance(value, list):
            return [self.rounded(name, each) for each in value]
        return round(value, self.rounding_digits) if isinstance(value, float) else value

    def text(self, trainer: EpochBasedTrainer, line: dict[str, Any]) -> str:
        """The line for people."""
        parts = []
        if line["mode"] == "train":
            parts += _rates(line.get("lr"))
            if "iter_time" in line:
                self._training_seconds += line["iter_time"] * self.interval
                parts += [f"eta: {self.eta(trainer)}", f"iter_time: {line['iter_time']:.3f}"]
                parts += [f"data_load_time: {line['data_load_time']:.3f}"]
            parts += [f"memory: {line['memory']}"] if "memory" in line else []
        parts += [_named(name, value) for name, value in line.items() if name not in OWN_FORMAT]
        return f"{self.place(trainer, line)}\t{', '.join(parts)}"

    def place(self, trainer: EpochBasedTrainer, line: dict[str, Any]) -> str:
        """Where the run is: ``epoch [1][10/50]``, ``epoch(eval) [1][5]``; ``iter [10/500]`` without ``by_epoch``."""
        unit, epoch = ("epoch", f"[{line['epoch']}]") if self.by_epoch else ("iter", "")
        if line["mode"] != "train":
            return f"{unit}({line['mode']}) {epoch}[{line['iter']}]"
        return f"{unit} {epoch}[{line['iter']}/{_total(trainer, self.by_epoch)}]"

    def eta(self, trainer: EpochBasedTrainer) -> str:
        """Time to the end of the run as h:mm:ss, from the mean time of the iterations logged so far."""
        done = trainer.iter - self._start_iter + 1
        left = trainer.max_iters - trainer.iter - 1
        return str(datetime.timedelta(seconds=int(self._training_seconds / done * left)))


def _rates(rate: Any) -> list[str]:
    """The learning rate; those of several optimizers, by name."""
    if isinstance(rate, Mapping):
        return [" ".join(f"lr_{name}: {value:.3e}" for name, value in rate.items())]
    return [f"lr: {rate:.3e}"] if isinstance(rate, float) else []


def _named(name: str, value: Any) -> str:
    return f"{name}: {value:.4f}" if isinstance(value, float) else f"{name}: {value}"


def _plain(value: Any) -> Any:
    """A value a log can hold: tensors of one element and numpy numbers become Python numbers."""
    return value.item() if hasattr(value, "item") and getattr(value, "size", None) is not None else value


def _total(trainer: EpochBasedTrainer, by_epoch: bool) -> int | str:
    try:
        return trainer.iters_per_epoch if by_epoch else trainer.max_iters
    except ValueError:  # data without length
        return "?"


def _peak_memory_mb(trainer: EpochBasedTrainer) -> int:
    import torch

    return int(torch.cuda.max_memory_allocated(trainer.device) / 2**20)
