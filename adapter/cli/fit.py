"""Train what a config describes.

Logs, checkpoints and ``output/`` go to the work directory.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from adapter.cli.arguments import add_config_arguments, add_run_arguments, run_request

EXAMPLE = "  adapter fit configs/quickstart.yaml train.max_epochs=5 train.optimizer.lr=1e-3 --work-dir runs/first"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``adapter fit``."""
    add_config_arguments(parser)
    add_run_arguments(parser)
    parser.add_argument(
        "--resume",
        metavar="CHECKPOINT",
        help="go on from a checkpoint pair as if never stopped; `last` is the newest one in the work directory",
    )


def run(args: argparse.Namespace) -> int:
    """Train; 0 when the run reached its end."""
    from adapter import pipeline

    pipeline.fit(replace(run_request(args), resume=args.resume))
    return 0
