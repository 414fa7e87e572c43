"""YAML by the core schema of YAML 1.2: ``2e-6`` is a number; ``yes``, ``1_000``, ``12:30``, dates are text.

PyYAML parses and marks the lines, with its C parser where there is one. What a scalar means is decided here,
since PyYAML itself follows YAML 1.1. Anchors and ``<<`` work; tags that would build objects are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import yaml

from adapter.config.document import MOST_LEVELS, Document, duplicate_problem, syntax_problem
from adapter.config.paths import child
from adapter.errors import ConfigError, Problem

TAG = "tag:yaml.org,2002:"
MOST_NODES = 100_000  # a config has hundreds of keys; aliases of aliases can ask for billions

# YAML 1.2.2, section 10.3.2, each with the characters a match can start with
_CORE: tuple[tuple[str, str, str], ...] = (
    ("null", r"~|null|Null|NULL|", "~nN"),
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("float", r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)", "-+."),
    ("merge", r"<<", "<"),
)


def _resolvers() -> dict[str, list[tuple[str, re.Pattern[str]]]]:
    """PyYAML's table of implicit tags by first character ('' for an empty scalar)."""
    table: dict[str, list[tuple[str, re.Pattern[str]]]] = {"": [(TAG + "null", re.compile(r"\Z"))]}
    for name, pattern, starts in _CORE:
        for start in starts:
            table.setdefault(start, []).append((TAG + name, re.compile(rf"(?:{pattern})\Z")))
    return table


# types-PyYAML knows no C classes, so the base stays Any
_PARSER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Parser(_PARSER):
    yaml_implicit_resolvers = _resolvers()


def read(text: str) -> Document:
    """Parse one YAML document.

    Raises:
        ConfigError: Not valid YAML, a key given twice, a tag that would build an object; each with its line.
    """
    try:
        node = _Parser(text).get_single_node()
    except yaml.MarkedYAMLError as error:
        raise ConfigError(_syntax(text, error)) from error
    except yaml.reader.ReaderError as error:
        raise ConfigError(_forbidden_character(text)) from error
    builder = _Builder(text)
    return Document(builder.value(node, "") if node else None, builder.lines)


class _Builder:
    """Values from PyYAML's nodes, noting the line of each path on the way."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines: dict[str, int] = {}
        self.open: list[yaml.Node] = []
        self.built = 0

    def value(self, node: yaml.Node, path: str) -> Any:
        if node in self.open:
            raise self.refused(node, "an anchor that contains itself")
        if len(self.open) > MOST_LEVELS:
            raise self.refused(node, f"nested more than {MOST_LEVELS} levels deep")
        self.count(node)
        self.open.append(node)
        try:
            if isinstance(node, yaml.MappingNode):
                return self.mapping(node, path)
            if isinstance(node, yaml.SequenceNode):
                return self.sequence(node, path)
            return self.scalar(node)
        finally:
            self.open.pop()

    def count(self, node: yaml.Node) -> None:
        self.built += 1
        if self.built > MOST_NODES:
            raise self.refused(node, f"aliases that unfold to more than {MOST_NODES} values")

    def mapping(self, node: yaml.MappingNode, path: str) -> dict[Any, Any]:
        self.expect_tag(node, "map")
        result = {}
        for key, (key_node, value_node) in self.pairs(node, path).items():
            below = child(path, str(key))
            self.lines[below] = key_node.start_mark.line + 1
            result[key] = self.value(value_node, below)
        return result

    def sequence(self, node: yaml.SequenceNode, path: str) -> list[Any]:
        self.expect_tag(node, "seq")
        for index, item in enumerate(node.value):
            self.lines[child(path, index)] = item.start_mark.line + 1
        return [self.value(item, child(path, index)) for index, item in enumerate(node.value)]

    def pairs(self, node: yaml.MappingNode, path: str) -> dict[Any, tuple[yaml.Node, yaml.Node]]:
        """Nodes of a mapping by key, merged ones first; a key of its own wins over them."""
        self.count(node)
        merged: dict[Any, tuple[yaml.Node, yaml.Node]] = {}
        own: dict[Any, tuple[yaml.Node, yaml.Node]] = {}
        for key_node, value_node in node.value:
            if key_node.tag == TAG + "merge":
                for source in self.merge_sources(node, value_node):
                    merged = {**self.pairs(source, path), **merged}
                continue
            key = self.scalar(key_node)
            if key in own:
                first, second = (n.start_mark.line + 1 for n in (own[key][0], key_node))
                raise ConfigError(duplicate_problem(child(path, str(key)), first, second))
            own[key] = (key_node, value_node)
        return {**merged, **own}

    def merge_sources(self, node: yaml.MappingNode, value: yaml.Node) -> Iterator[yaml.MappingNode]:
        """The mappings that ``<<`` names, one or a list; an earlier one wins over a later one."""
        for source in value.value if isinstance(value, yaml.SequenceNode) else [value]:
            if not isinstance(source, yaml.MappingNode) or source is node:
                raise self.refused(value, "'<<' takes a mapping, or a list of mappings")
            yield source

    def scalar(self, node: yaml.Node) -> Any:
        construct = _SCALARS.get(node.tag.removeprefix(TAG))
        if not isinstance(node, yaml.ScalarNode):
            raise self.refused(node, "a mapping or list cannot be a key")
        if construct is None:
            raise self.refused(node, f"the tag '{_short(node.tag)}' is not allowed in a config")
        try:
            return construct(node.value)
        except ValueError as error:
            raise self.refused(node, f"'{node.value}' cannot be read as '{_short(node.tag)}'") from error

    def expect_tag(self, node: yaml.Node, name: str) -> None:
        if node.tag != TAG + name:
            raise self.refused(node, f"the tag '{_short(node.tag)}' is not allowed in a config")

    def refused(self, node: yaml.Node, message: str) -> ConfigError:
        mark = node.start_mark
        return ConfigError(syntax_problem(self.text, mark.line + 1, mark.column + 1, message))


def _integer(text: str) -> int:
    return int(text, 0) if text[:2] in ("0o", "0x") else int(text)


def _float(text: str) -> float:
    return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))


_SCALARS: dict[str, Callable[[str], Any]] = {
    "str": str,
    "merge": str,
    "null": lambda text: None,
    "bool": lambda text: text.lower() == "true",
    "int": _integer,
    "float": _float,
}


def _short(tag: str) -> str:
    """A tag as people write it."""
    return tag.replace(TAG, "!!")


def _syntax(text: str, error: yaml.MarkedYAMLError) -> Problem:
    mark, context = error.problem_mark or error.context_mark, error.context or ""
    if context and error.context_mark and mark and error.context_mark.line != mark.line:
        context += f" that begins in line {error.context_mark.line + 1}"
    message = ": ".join(filter(None, ["not valid YAML", context, error.problem]))
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    return syntax_problem(text, line, column, message)


def _forbidden_character(text: str) -> Problem:
    """The first character that YAML does not allow at all, such as a control character."""
    found = yaml.reader.Reader.NON_PRINTABLE.search(text)
    before = text[: found.start()] if found else ""
    message = f"not valid YAML: the character {found[0]!r} is not allowed" if found else "not valid YAML"
    return syntax_problem(text, before.count("\n") + 1, len(before) - before.rfind("\n"), message)


class _Dumper(yaml.SafeDumper):
    """Writes what YAML 1.1 and 1.2 readers understand alike: text that either takes for more is quoted."""

    yaml_implicit_resolvers = {
        start: [*yaml.SafeDumper.yaml_implicit_resolvers.get(start, []), *_resolvers().get(start, [])]
        for start in {*yaml.SafeDumper.yaml_implicit_resolvers, *_resolvers()}
    }

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_str(self, data: str) -> yaml.ScalarNode:
        # PyYAML folds Unicode's line breaks into spaces unless they are escaped, as double quotes do
        style = '"' if set(data) & set("\x85\u2028\u2029") else None
        return self.represent_scalar(TAG + "str", data, style=style)


_Dumper.add_representer(str, _Dumper.represent_str)


def write(values: Any) -> str:
    """Plain values as a YAML document, keys in their order."""
    return yaml.dump(values, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)
