"""Entry point of the ``adapter`` command: pick the command, run it, turn its errors into an exit status."""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import sys
import traceback
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from adapter import cli
from adapter.aside import WriteError
from adapter.cli.trainer_arguments import split_trainer_arguments
from adapter.errors import ConfigError, nearest
from adapter.version import package_version

FAILURE, CONFIG_ERROR, INTERRUPTED, READER_GONE = 1, 2, 130, 141
MORE_HELP = """`adapter COMMAND --help` explains a command.
example: adapter fit configs/quickstart.yaml"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: Words after ``adapter``; those of the process by default.

    Returns:
        Exit status: 0, 2 for a config error, 1 for any other failure, 130 after Ctrl-C.

    Raises:
        SystemExit: After ``--help`` (0), and on a wrong use of the command line (2).
    """
    words = list(sys.argv[1:] if argv is None else argv)
    commands = find_commands()
    overview = _overview(commands)
    first = overview.parse_args(words[:1])
    name = first.command
    if first.version:
        print(f"adapter {package_version()}")
        return 0
    if name not in commands:
        guess = nearest(name, commands)
        hint = f"did you mean '{guess}'?" if guess else f"choose from {', '.join(commands)}"
        overview.error(f"unknown command '{name}'; {hint}" if name else f"no command given; {hint}")
    return _run(name, commands[name], words[1:])


def find_commands() -> dict[str, ModuleType]:
    """The command modules of this folder by name."""
    modules = {
        info.name: importlib.import_module(f"{cli.__name__}.{info.name}") for info in pkgutil.iter_modules(cli.__path__)
    }
    return {name: module for name, module in sorted(modules.items()) if hasattr(module, "EXAMPLE")}


def parse(name: str, command: ModuleType, words: Sequence[str]) -> argparse.Namespace:
    """The arguments of a command; options and ``key=value`` overrides may come in any order.

    ``--trainer.KEY`` has any key, which argparse cannot express: those are taken out first, as ``trainer``. A command
    that passes its words on gets all of them, as ``words``.
    """
    if getattr(command, "PASSES_WORDS_ON", False):
        return argparse.Namespace(words=[word for word in words if word != "--debug"])
    parser = argparse.ArgumentParser(prog=f"adapter {name}", **described(command))
    complete_parser(parser, command)
    if getattr(command, "TAKES_REST", False):
        return parser.parse_args(words)
    if parser.get_default("trainer") is None:
        return parser.parse_intermixed_args(words)
    words, trainer = split_trainer_arguments(words)
    args = parser.parse_intermixed_args(words)
    args.trainer = trainer
    return args


def described(command: ModuleType) -> dict[str, Any]:
    """What a command's parser says of it."""
    return {
        "description": _summary(command),
        "epilog": f"example:\n{command.EXAMPLE}",
        "formatter_class": argparse.RawDescriptionHelpFormatter,
        "allow_abbrev": False,
    }


def complete_parser(parser: argparse.ArgumentParser, command: ModuleType) -> None:
    """Give a parser the arguments of a command."""
    command.add_arguments(parser)
    parser.add_argument("--debug", action="store_true", help="show the traceback of a failure")


def _overview(commands: dict[str, ModuleType]) -> argparse.ArgumentParser:
    """Parser of the first word, whose help lists the commands."""
    width = max(map(len, commands), default=0)
    rows = [f"  {name:{width}}  {_summary(module)}" for name, module in commands.items()]
    parser = argparse.ArgumentParser(
        prog="adapter",
        usage="adapter COMMAND ... | --help | --version",
        description="Run training configs written for ModelScope's EpochBasedTrainer on PyTorch Lightning.",
        epilog="\n".join(["commands:", *rows, "", MORE_HELP]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", metavar="COMMAND", nargs="?", help=argparse.SUPPRESS)
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    return parser


def _summary(command: ModuleType) -> str:
    return (command.__doc__ or "").partition("\n")[0]


def _run(name: str, command: ModuleType, words: Sequence[str]) -> int:
    """The command's exit status; errors become a short text on stderr."""
    try:
        status: int = command.run(parse(name, command, words))
        if sys.stdout is not None:  # closed by whoever started the process
            sys.stdout.flush()
        return status
    except ConfigError as error:
        print(error, file=sys.stderr)
        return CONFIG_ERROR
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # `adapter list | head`: nobody reads on; the interpreter must not fail again when it flushes at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return READER_GONE
    except Exception as error:  # a person gets one line; --debug shows the rest
        _report(error, debug="--debug" in words)
        return FAILURE


def _report(error: Exception, debug: bool) -> None:
    """Name the exception and where it was raised; the whole traceback on request.

    What the system says against a file is a sentence about the file, wherever it came up.
    """
    if debug:
        traceback.print_exception(error)
        return
    if isinstance(error, WriteError):
        print(error, file=sys.stderr)
        return
    if isinstance(error, OSError) and error.filename and error.strerror:
        print(f"cannot use '{error.filename}': {error.strerror}", file=sys.stderr)
        return
    frame = traceback.extract_tb(error.__traceback__)[-1]
    print(f"{type(error).__name__}: {error}", file=sys.stderr)
    print(f"  raised at {frame.filename}:{frame.lineno}; --debug shows the traceback", file=sys.stderr)
