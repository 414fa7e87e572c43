"""TensorboardHook: log lines as TensorBoard scalars, and what trainer.visualization left as images."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from adapter.errors import ConfigError, Problem
from adapter.hooks.logger import LoggerHook, is_number
from adapter.registry import HOOKS

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer


@HOOKS.register_module()
class TensorboardHook(LoggerHook):
    """Writes every number of a log line to ``work_dir/tensorboard_output``, and images.

    Images are what ``trainer.visualization`` puts into ``trainer.visualization_buffer.output``: name to a list of
    images, or to ``{"images": [...], "filenames": [...]}``. An image is (H, W), (H, W, C) or, as a tensor, (C, H, W);
    uint8, or float from 0 to 1. They are written once, as ``name/filename`` or ``name/image_0``, with the next line.

    Args:
        out_dir: Folder of the event files.
        interval: Iterations between lines.
        ignore_last: Write no line for the iterations left over at the end of an epoch.
        by_epoch: Count the interval within the epoch (True) or over the whole run (False).
        skip_keys: Name or names of values to leave out.
    """

    def __init__(
        self,
        out_dir: str | None = None,
        interval: int = 10,
        ignore_last: bool = True,
        by_epoch: bool = True,
        skip_keys: str | Sequence[str] | None = ("iter_time", "data_load_time"),
    ) -> None:
        super().__init__(interval=interval, ignore_last=ignore_last, by_epoch=by_epoch)
        self.out_dir = out_dir
        self.skip_keys = [skip_keys] if isinstance(skip_keys, str) else list(skip_keys or [])
        self.writer: Any = None

    def before_run(self, trainer: EpochBasedTrainer) -> None:
        """Open the event file, on the main process.

        Raises:
            ConfigError: TensorBoard is not installed.
        """
        super().before_run(trainer)
        self.out_dir = self.out_dir or os.path.join(trainer.work_dir, "tensorboard_output")
        if not trainer.is_main_process:
            return
        try:
            from lightning.pytorch.loggers import TensorBoardLogger

            self.writer = TensorBoardLogger(self.out_dir, name="", version="").experiment
        except ModuleNotFoundError as error:
            raise ConfigError(
                Problem(
                    "train.hooks",
                    "TensorboardHook needs the package tensorboard",
                    fix="pip install 'ms-lightning-adapter[tensorboard]'",
                )
            ) from error
        trainer.logger.info("tensorboard files will be saved to %s", self.out_dir)

    def log(self, trainer: EpochBasedTrainer) -> None:
        """Write the scalars of the line, at the number of the iteration, counted from 1 over the run."""
        if self.writer is None:
            return
        for name, value in trainer.log_buffer.output.items():
            if name not in self.skip_keys and is_number(value):
                self.writer.add_scalar(name, float(value), trainer.iter + 1)
        self._write_images(trainer)
        self.writer.flush()  # a run that is killed leaves its lines

    def _write_images(self, trainer: EpochBasedTrainer) -> None:
        """Write the images of the last evaluation, and forget them."""
        for tag, entry in trainer.visualization_buffer.output.items():
            found = entry if isinstance(entry, Mapping) else {"images": entry}
            images = found.get("images") or []
            names = found.get("filenames") or [f"image_{number}" for number in range(len(images))]
            for name, image in zip(names, images, strict=True):
                self.writer.add_image(f"{tag}/{name}", image, trainer.iter + 1, dataformats=_layout(image))
        trainer.visualization_buffer.clear_output()

    def after_run(self, trainer: EpochBasedTrainer) -> None:
        """Close the event file."""
        if self.writer is not None:
            self.writer.close()


def _layout(image: Any) -> str:
    """Order of an image's axes; where both ends could be channels, a tensor has them first and an array last."""
    if image.ndim == 2:
        return "HW"
    first, last = (image.shape[axis] in (1, 3, 4) for axis in (0, 2))
    tensor = hasattr(image, "detach")
    return "CHW" if first and (tensor or not last) else "HWC"
