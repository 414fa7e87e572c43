"""List the names a config may use: hooks, metrics, optimizers, ..."""

from __future__ import annotations

import argparse
import ast
import importlib.util
import textwrap
from collections.abc import Iterator
from pathlib import Path

from adapter import registry
from adapter.cli.arguments import add_import_argument
from adapter.cli.tables import on_terminal, print_table
from adapter.registry import Registry, declared_names
from adapter.runner.registration import registry as run_registry

EXAMPLE = "  adapter list hook"


def kinds() -> dict[str, Registry]:
    """Every registry, by the kind of its entries; what a ``run:`` config names is ``run-...``."""
    found = (value for value in vars(registry).values() if isinstance(value, Registry))
    for_run = {f"run-{kind}": entries for kind, entries in run_registry.kinds.items()}
    return {each.name: each for each in found} | for_run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``adapter list``."""
    parser.add_argument(
        "kind",
        metavar="KIND",
        nargs="?",
        choices=list(kinds()),
        help=f"one kind only, a line a name: {', '.join(kinds())}",
    )
    add_import_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Print the names of every kind, or those of one with what each is for."""
    if args.imports:
        from adapter.pipeline import import_user_code

        import_user_code(args.imports)
    if args.kind:
        _show(("name", "what it is"), _described(kinds()[args.kind]))
    elif on_terminal():
        print_table(("kind", "names"), [(kind, _names(entries)) for kind, entries in kinds().items()])
    else:
        for kind, entries in kinds().items():
            print(textwrap.fill(_names(entries), 110, initial_indent=f"{kind}: ", subsequent_indent="    "))
    return 0


def _names(entries: Registry) -> str:
    return ", ".join(entries.names()) or "none built in"


def _show(columns: tuple[str, str], rows: list[tuple[str, str]]) -> None:
    """A table on a terminal; a line a name for programs."""
    if on_terminal():
        print_table(columns, rows)
        return
    width = max((len(name) for name, text in rows if text), default=0)
    for name, text in rows:
        print(f"{name:{width}}  {text}".rstrip())


def _described(entries: Registry) -> list[tuple[str, str]]:
    """Every name; the built-in ones with the first line of their documentation."""
    modules = declared_names(entries.package).get(entries.variable, {}).values() if entries.package else ()
    found = {name: text for module in set(modules) for name, text in _summaries(module)}
    return [(name, found.get(name, "")) for name in entries.names()]


def _summaries(module: str) -> Iterator[tuple[str, str]]:
    """Registered name and first docstring line of what a module registers; an import could load torch."""
    spec = importlib.util.find_spec(module)
    source = Path(spec.origin).read_text(encoding="utf-8") if spec and spec.origin else ""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.decorator_list:
            summary = (ast.get_docstring(node) or "").partition("\n")[0].replace("``", "")
            for decorator in node.decorator_list:
                given = [part.value for part in ast.walk(decorator) if isinstance(part, ast.Constant)]
                yield from ((str(name), summary) for name in given or [node.name])
