"""Print a script that completes commands, options and file names in a shell."""

from __future__ import annotations

import argparse

SHELLS = ("bash", "zsh", "tcsh")
# What an argument is called in a command's help -> what the shell offers for it.
FILES = ("CONFIG", "FILE", "PATH", "CHECKPOINT", "SCRIPT", "FILE_OR_MODULE")
FOLDERS = ("DIR", "FOLDER", "WORK_DIR")
EXAMPLE = """  adapter completion bash > ~/.local/share/bash-completion/completions/adapter
  adapter completion zsh > ~/.zfunc/_adapter"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``adapter completion``."""
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help=", ".join(SHELLS))


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    import shtab

    print(shtab.complete(whole_parser(), shell=args.shell))
    return 0


def whole_parser() -> argparse.ArgumentParser:
    """One parser of all commands; the command line itself makes only that of the command it runs."""
    import shtab

    from adapter.cli.main import complete_parser, described, find_commands

    whole = argparse.ArgumentParser(prog="adapter")
    whole.add_argument("--version", action="store_true", help="print the version and exit")
    commands = whole.add_subparsers()
    for name, command in find_commands().items():
        parser = commands.add_parser(name, help=described(command)["description"], **described(command))
        complete_parser(parser, command)
        for action in parser._actions:
            offered = shtab.FILE if action.metavar in FILES else shtab.DIRECTORY if action.metavar in FOLDERS else None
            if offered:
                vars(action)["complete"] = offered  # shtab's own attribute, of which argparse knows nothing
    return whole
