"""Run a Lightning CLI file that `adapter convert` has written."""

from __future__ import annotations

import argparse

EXAMPLE = """  adapter convert configs/quickstart.yaml -o lightning.yaml
  adapter lightning fit --config lightning.yaml --trainer.max_epochs 5"""
PASSES_WORDS_ON = True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``adapter lightning``, which are LightningCLI's: it reads them itself."""
    parser.add_argument(
        "words", metavar="WORD", nargs="*", help="fit, validate, test or predict, and LightningCLI's options"
    )


def run(args: argparse.Namespace) -> int:
    """Do what LightningCLI is told; 0 when it is done."""
    from adapter.converted.cli import ConfigCLI

    if args.words[:1] in (["--help"], ["-h"]):  # LightningCLI's own help, which follows, knows nothing of the file
        print(f"{__doc__}\n\nexample:\n{EXAMPLE}\n")
    ConfigCLI(args.words)
    return 0
