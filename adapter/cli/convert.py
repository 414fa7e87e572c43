"""Turn a config into an ordinary LightningCLI file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from adapter.cli.arguments import add_config_arguments, file_request, file_to_write

EXAMPLE = """  adapter convert configs/quickstart.yaml -o lightning.yaml
  adapter lightning fit --config lightning.yaml"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``adapter convert``."""
    add_config_arguments(parser)
    parser.add_argument("-o", "--out", metavar="FILE", type=file_to_write, help="where to write it (default: print it)")


def run(args: argparse.Namespace) -> int:
    """Print or write the file."""
    from adapter import pipeline
    from adapter.aside import write_text

    text = pipeline.convert(file_request(args), args.out)
    if args.out:
        write_text(text, Path(args.out))
    else:
        sys.stdout.write(text)
    return 0
