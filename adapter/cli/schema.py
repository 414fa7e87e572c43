"""Print the JSON Schema of the documented config, for editors."""

from __future__ import annotations

import argparse
import json

EXAMPLE = """  adapter schema > adapter.schema.json
  and as the first line of a config: # yaml-language-server: $schema=adapter.schema.json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """``adapter schema`` takes none."""


def run(args: argparse.Namespace) -> int:
    """Print it."""
    from adapter.schema.json_schema import json_schema

    print(json.dumps(json_schema(), indent=2))
    return 0
