"""Show what becomes of each key of a config, without running anything."""

from __future__ import annotations

import argparse
import shutil

from adapter.cli.arguments import add_config_arguments, file_request

EXAMPLE = "  adapter explain configuration.json\n  adapter explain configuration.json --json | jq '.hooks'"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``adapter explain``."""
    add_config_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print everything as one JSON object")


def run(args: argparse.Namespace) -> int:
    """Print the table, or the JSON object."""
    from adapter import pipeline

    explanation = pipeline.explain(file_request(args))
    print(explanation.as_json() if args.json else explanation.as_text(shutil.get_terminal_size((120, 0)).columns))
    return 0
