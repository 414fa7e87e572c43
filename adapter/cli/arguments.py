"""Arguments that several commands share, and the request to the pipeline they become."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from typing import TYPE_CHECKING

from adapter.cli.trainer_arguments import read_trainer_arguments
from adapter.config import parse_overrides

if TYPE_CHECKING:
    from adapter.pipeline import Request


def add_config_arguments(parser: argparse.ArgumentParser) -> None:
    """The config file and how it is read."""
    parser.add_argument(
        "config", metavar="CONFIG", help="config file (.json, .yaml, .py), or a folder with configuration.json"
    )
    parser.add_argument(
        "overrides",
        metavar="KEY=VALUE",
        nargs="*",
        default=[],
        help="replaces a value of the file, such as train.max_epochs=3 or train.optimizer.lr=1e-3",
    )
    parser.add_argument(
        "--options",
        metavar="KEY=VALUE",
        nargs="+",
        action="extend",
        default=[],
        help="the same as KEY=VALUE without the word --options, as LAVIS spells it",
    )
    add_import_argument(parser)
    parser.add_argument(
        "--trust-remote-code",
        action="store_true",
        help="run code the config brings along: .py configs, plugins, custom_imports",
    )
    parser.add_argument("--strict", action="store_true", help="make unknown keys an error")


def file_to_write(path: str) -> str:
    """Type of an argument that names a file to write.

    Raises:
        ArgumentTypeError: It is a folder.
    """
    if os.path.isdir(path):
        raise argparse.ArgumentTypeError(f"'{path}' is a folder; name a file")
    return path


def add_import_argument(parser: argparse.ArgumentParser) -> None:
    """The user's own code."""
    parser.add_argument(
        "--import",
        dest="imports",
        metavar="FILE_OR_MODULE",
        action="append",
        default=[],
        help="import your own code first, so that what it registers can be named; repeatable",
    )


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """Where and how a run happens."""
    parser.add_argument("--work-dir", metavar="DIR", help="where logs and checkpoints go (default: train.work_dir)")
    parser.add_argument(
        "--seed", type=int, metavar="N", help="of every random number generator (default: run.seed, else 42)"
    )
    parser.add_argument(
        "--trainer.KEY",
        dest="trainer",
        default={},
        metavar="VALUE",
        help="any argument of lightning.Trainer; wins over what the config asks for",
    )


def is_main_process() -> bool:
    """Whether this process of a run prints; known once the run has been built."""
    return os.environ.get("RANK", "0") == "0"


def file_request(args: argparse.Namespace) -> Request:
    """What the arguments of `add_config_arguments` ask for.

    Raises:
        ConfigError: An override that is not ``key=value``.
    """
    from adapter.pipeline import Request

    return Request(
        args.config,
        overrides=parse_overrides([*args.overrides, *args.options]),
        imports=args.imports,
        trust_remote_code=args.trust_remote_code,
        strict=args.strict,
    )


def run_request(args: argparse.Namespace) -> Request:
    """The same with the arguments of `add_run_arguments`.

    Raises:
        ConfigError: An override that is not ``key=value``, or a ``--trainer.KEY`` that Lightning refuses.
    """
    return replace(
        file_request(args),
        work_dir=args.work_dir,
        seed=args.seed,
        trainer_args=read_trainer_arguments(args.trainer),
    )
