"""Lightning without its banners and tips."""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Iterator

LOGGERS = ("lightning.pytorch", "lightning.fabric", "lightning_utilities")
EXPECTED_WARNINGS = (
    "GPU available but not used",
    "You passed `Trainer\\(accelerator='cpu', precision='16-mixed'\\)`",
    "MPS available but not used",
    "Using `DistributedSampler` with the dataloaders",
    "The '.*_dataloader' does not have many workers",
    "Found .* module.s. in eval mode",
    "`LightningModule.configure_optimizers` returned `None`",
    "You called `self.log",
    "You are using the `dataloader_iter` step flavor",
    "Found `dataloader_iter` argument in the `.*_step`",
    ".*isinstance\\(treespec, LeafSpec\\)",
    "`torch.distributed.(all_gather_into|reduce_scatter)_tensor` is deprecated",  # DeepSpeed's calls
    "\\s*By default only one JsonargparseDeprecationWarning",  # LightningCLI's own calls
    "\\s*`*(ArgumentParser\\.)?(instantiate_classes|add_instantiator)",
)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Without Lightning's banners, tips, and its warnings about what is done on purpose here."""
    levels = {name: logging.getLogger(name).level for name in LOGGERS}
    with warnings.catch_warnings():
        for message in EXPECTED_WARNINGS:
            warnings.filterwarnings("ignore", message)
        try:
            for name in LOGGERS:
                logging.getLogger(name).setLevel(max(logging.WARNING, levels[name]))
            yield
        finally:
            for name, level in levels.items():
                logging.getLogger(name).setLevel(level)
