"""Rewrite a config file on today's keys, comments kept."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from adapter.cli.arguments import file_to_write

EXAMPLE = """  adapter migrate configuration.json
  adapter migrate old.yaml -o new.yaml"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``adapter migrate``."""
    parser.add_argument("config", metavar="CONFIG", help="configuration file: .json or .yaml")
    parser.add_argument(
        "-o",
        "--out",
        metavar="FILE",
        type=file_to_write,
        help="where to write it, as YAML or JSON by its name (default: print it)",
    )


def run(args: argparse.Namespace) -> int:
    """Print or write the new file; what was moved goes to stderr."""
    from adapter.aside import write_text
    from adapter.migrate import migrate

    migration = migrate(args.config, args.out)
    if args.out:
        write_text(migration.text, Path(args.out))
    else:
        sys.stdout.write(migration.text)
    for line in migration.summary or ["nothing to move: the file is on today's keys already"]:
        print(line, file=sys.stderr)
    return 0
