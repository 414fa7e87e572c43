"""Train what a config describes.

Logs, checkpoints and ``output/`` go to the work directory.
"""

from __future__ import annotations

import argparse
import os
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
        nargs="?",
        const="last",
        help="go on from a checkpoint pair as if never stopped; `last`, or nothing, is the newest one in the work "
        "directory",
    )
    parser.add_argument(
        "--weights-only",
        action="store_true",
        help="with --resume: begin a new run with the checkpoint's weights; a .bin or .safetensors file will do",
    )


def run(args: argparse.Namespace) -> int:
    """Train; 0 when the run reached its end."""
    from adapter import pipeline

    if args.resume and "=" in args.resume and not os.path.exists(args.resume):
        args.overrides.append(args.resume)  # `--resume key=value`: it was given without a checkpoint
        args.resume = "last"
    pipeline.fit(replace(run_request(args), resume=args.resume, weights_only=args.weights_only))
    return 0
