"""Draw losses, rates and metrics of one or several runs."""

from __future__ import annotations

import argparse
from pathlib import Path

from adapter.cli.arguments import file_to_write

EXAMPLE = "  adapter plot work_dir -o curves.png\n  adapter plot runs/old runs/new -o curves.html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``adapter plot``."""
    parser.add_argument("folders", metavar="WORK_DIR", nargs="+", help="work directory of a run, with its log")
    parser.add_argument(
        "-o",
        "--out",
        metavar="FILE",
        type=file_to_write,
        default="curves.png",
        help=".png or .html (default: curves.png)",
    )


def run(args: argparse.Namespace) -> int:
    """Draw the picture and say where it is."""
    from adapter.curves import read_curves
    from adapter.plot import plot

    plot({folder: read_curves(Path(folder)) for folder in args.folders}, Path(args.out))
    print(args.out)
    return 0
