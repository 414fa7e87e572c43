"""ConfigCLI: the LightningCLI of ``adapter lightning``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from lightning.pytorch.cli import LightningArgumentParser, LightningCLI

from adapter.config import Config
from adapter.config.writing import WRITERS
from adapter.converted.data import ConfigData
from adapter.converted.model import ConfigModel
from adapter.errors import ConfigError, Problem
from adapter.lightning.engine import interrupts_kept
from adapter.lightning.lean_trainer import LeanTrainer
from adapter.lightning.quiet import quiet

# `--model.init_args.optimizer.options.x`, of which LightningCLI would keep x and forget the other options
TOO_DEEP = re.compile(r"--((?:model|data)\.(?:init_args\.)?(?!init_args\.)[^.=]+\.[^.=]+)\.[^=]+")
PROG = "adapter lightning"


def refuse_other_files(words: Sequence[str]) -> None:
    """Refuse what cannot be read as a file of ``--config``, and a config that has not been converted.

    Raises:
        ConfigError: Such a file, by its name.
    """
    pairs = [*pairwise(words), *(word.split("=", 1) for word in words if "=" in word)]
    for option, path in pairs:
        if option not in ("--config", "-c") or Path(path).suffix.lower() not in WRITERS:
            continue
        found = Config.from_file(path)
        if "trainer" not in found and ("train" in found or "run" in found):
            fix = f"`adapter convert {path} -o lightning.yaml` makes one; `adapter fit` runs it as it is"
            raise ConfigError(Problem("", "a config, and not a LightningCLI file", fix=fix, kind="file"), path)


class ConfigCLI(LightningCLI):
    """Runs a file that ``adapter convert`` has written.

    Args:
        words: Those of the command line.

    Raises:
        ConfigError: A value too deep for the command line, or a config that cannot be run as written.
        SystemExit: After ``--help`` and ``--print_config`` (0), and on what LightningCLI does not understand (2).
    """

    def __init__(self, words: Sequence[str]) -> None:
        for match in filter(None, map(TOO_DEEP.match, words)):
            key = match[1]
            fix = f"change it in the file, or give the whole value: --{key} '{{...}}'"
            raise ConfigError(Problem(match[0], "is below a value that the command line can only replace", fix=fix))
        self.words = list(words)
        refuse_other_files(words)
        usage = {name: {"usage": f"{PROG} {name} --config FILE [--KEY VALUE ...]"} for name in self.subcommands()}
        with quiet():
            super().__init__(
                ConfigModel,
                ConfigData,
                subclass_mode_model=True,
                subclass_mode_data=True,
                save_config_callback=None,  # the work directory holds the config, and what it became, already
                trainer_class=LeanTrainer,
                auto_configure_optimizers=False,
                load_from_checkpoint_support=False,  # checkpoints are pairs, not Lightning's
                parser_kwargs={"prog": PROG, **usage},  # Lightning's own usage is as long as the list of its options
            )

    @staticmethod
    def subcommands() -> dict[str, set[str]]:
        """Those that a config describes data for, and the arguments that Lightning is not asked for."""
        given = {"model", "datamodule", "weights_only"}
        return {
            "fit": {*given, "train_dataloaders", "val_dataloaders"},
            "validate": {*given, "dataloaders"},
            "test": {*given, "dataloaders"},
            "predict": {*given, "dataloaders"},
        }

    def parse_arguments(self, parser: LightningArgumentParser, args: Any) -> None:
        """Read the words of the command line."""
        self.config = parser.parse_args(self.words)

    def _parse_ckpt_path(self) -> None:
        """Nothing: a checkpoint of ours says nothing about arguments."""

    def _run_subcommand(self, subcommand: str) -> None:
        """Run it, from the checkpoint that ``--ckpt_path`` names: a pair or weights of ours, not one of Lightning's."""
        arguments = self._prepare_subcommand_kwargs(subcommand)
        self.model.checkpoint = arguments.pop("ckpt_path", None) or self.model.checkpoint
        with interrupts_kept():
            getattr(self.trainer, subcommand)(**arguments)
