"""Show what becomes of each key of a config, without running anything."""

from __future__ import annotations

import argparse

from adapter.cli.arguments import add_config_arguments, file_request
from adapter.cli.tables import on_terminal, print_table

EXAMPLE = "  adapter explain configuration.json\n  adapter explain configuration.json --json | jq '.hooks'"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``adapter explain``."""
    add_config_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print everything as one JSON object")


def run(args: argparse.Namespace) -> int:
    """Print the table, or the JSON object."""
    from adapter import pipeline
    from adapter.explain import COLUMNS

    explanation = pipeline.explain(file_request(args))
    if args.json:
        print(explanation.as_json())
    elif on_terminal():
        print_table(COLUMNS, explanation.table(), title=explanation.title, styled_by=2)
        print(explanation.remarks())
    else:
        print(explanation.as_text())
    return 0
