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
        print(_described(kinds()[args.kind]))
        return 0
    for kind, entries in kinds().items():
        names = ", ".join(entries.names()) or "none built in"
        print(textwrap.fill(names, 110, initial_indent=f"{kind}: ", subsequent_indent="    "))
    return 0


def _described(entries: Registry) -> str:
    """A line a name; the built-in ones with the first line of their documentation."""
    modules = declared_names(entries.package).get(entries.variable, {}).values() if entries.package else ()
    found = {name: text for module in set(modules) for name, text in _summaries(module)}
    summaries = {name: text for name, text in found.items() if name in entries}
    width = max(map(len, summaries), default=0)
    return "\n".join(f"{name:{width}}  {summaries.get(name, '')}".rstrip() for name in entries.names())


def _summaries(module: str) -> Iterator[tuple[str, str]]:
    """Registered name and first docstring line of what a module registers; an import could load torch."""
    spec = importlib.util.find_spec(module)
    source = Path(spec.origin).read_text(encoding="utf-8") if spec and spec.origin else ""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.decorator_list:
            summary = (ast.get_docstring(node) or "").partition("\n")[0].replace("``", "")
            given = [c.value for d in node.decorator_list for c in ast.walk(d) if isinstance(c, ast.Constant)]
            yield from ((str(name), summary) for name in given or [node.name])
