"""Write a trained model to a folder that transformers' from_pretrained, or torch, loads."""

from __future__ import annotations

import argparse
from pathlib import Path

EXAMPLE = "  adapter export work_dir -o my_model\n  adapter export work_dir --best -o my_model"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``adapter export``."""
    parser.add_argument("folder", metavar="WORK_DIR", help="work directory of a run")
    parser.add_argument("-o", "--out", metavar="FOLDER", required=True, help="folder to write; new, or empty")
    parser.add_argument("--best", action="store_true", help="the best weights (BestCkptSaverHook), not the newest")


def run(args: argparse.Namespace) -> int:
    """Write the folder and say what is in it."""
    from adapter.export import export

    names = export(Path(args.folder), Path(args.out), args.best)
    print(f"{args.out}: {', '.join(names)}")
    return 0
