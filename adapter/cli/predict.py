"""Write what a checkpoint makes of a config's evaluation data, one JSON object a sample."""

from __future__ import annotations

import argparse

from adapter.cli.arguments import add_config_arguments, add_run_arguments, is_main_process, run_request

EXAMPLE = "  adapter predict configs/quickstart.yaml --ckpt work_dir/quickstart/epoch_3.pth --out predictions.jsonl"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``adapter predict``."""
    add_config_arguments(parser)
    parser.add_argument(
        "--ckpt",
        metavar="PATH",
        required=True,
        help="weights to use: a .pth file of a pair, its name without the ending, or a .bin file",
    )
    parser.add_argument(
        "--out", metavar="FILE", required=True, help="file to write, a line a sample in the order of dataset.val"
    )
    add_run_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Write the file and print how many samples it holds."""
    from adapter import pipeline

    count = pipeline.predict(run_request(args), args.ckpt, args.out)
    if is_main_process():
        print(f"{count} samples in {args.out}")
    return 0
