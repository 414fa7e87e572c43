"""Evaluate a checkpoint with the metrics of a config."""

from __future__ import annotations

import argparse
import json

from adapter.cli.arguments import add_config_arguments, add_run_arguments, is_main_process, run_request

EXAMPLE = "  adapter validate configs/quickstart.yaml --ckpt work_dir/quickstart/output/pytorch_model.bin"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``adapter validate``."""
    add_config_arguments(parser)
    parser.add_argument(
        "--ckpt",
        metavar="PATH",
        required=True,
        help="weights to evaluate: a .pth file of a pair, its name without the ending, or a .bin file",
    )
    parser.add_argument("--json", action="store_true", help="print the metrics as one JSON object")
    add_run_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Print the metrics, a line each."""
    from adapter import pipeline

    metrics = pipeline.validate(run_request(args), args.ckpt)
    if not is_main_process():
        return 0
    if args.json:
        print(json.dumps(metrics))
        return 0
    width = max(map(len, metrics), default=0)
    for name, value in metrics.items():
        print(f"{name:{width}}  {value}")
    return 0
