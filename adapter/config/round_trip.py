"""Change the values of a config file's text and leave the rest of it, comments first of all, as the author wrote it."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq

from adapter.config import comments
from adapter.config.config_dict import unwrapped
from adapter.config.paths import MISSING, child, find

WIDE = 4096  # characters: no line is ever folded
FIRST_STEP = re.compile(r"\n( +)[^\s#-]")
FIRST_DASH = re.compile(r"^( *)[^\s#-][^\n]*:[ ]*\n\1( *)- ", re.MULTILINE)
Nodes = Mapping[str, Any]


def rewritten(text: str, suffix: str, target: Mapping[str, Any], moved: Mapping[str, str]) -> str:
    """The text of a config file with other values.

    Args:
        text: JSON or YAML that can be read.
        suffix: ``.json``, ``.yaml`` or ``.yml``.
        target: All values that the new text is to hold.
        moved: Old key path to the new one, for what stands elsewhere now; an empty one for what is gone. In YAML, a
            value moves as it is written, with its comments.
    """
    values = unwrapped(target)
    if suffix.lower() == ".json":
        return json.dumps(values, indent=_json_indent(text), ensure_ascii=False) + "\n"
    bare, remarks = comments.taken_out(text)
    yaml = _yaml(bare)
    tree = yaml.load(bare)
    nodes = {new: node for old, new in moved.items() if new and (node := find(tree, old)) is not MISSING}
    out = io.StringIO()
    yaml.dump(_synced(tree, values, "", nodes), out)
    return comments.put_back(out.getvalue(), remarks, moved)


def _yaml(text: str) -> YAML:
    """A reader and writer that keeps quotes and line breaks, and indents as ``text`` does."""
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = WIDE
    step, dash = FIRST_STEP.search(text), FIRST_DASH.search(text)
    offset = len(dash[2]) if dash else 0
    yaml.indent(mapping=len(step[1]) if step else 2, sequence=offset + 2, offset=offset)
    return yaml


def _json_indent(text: str) -> int:
    """Spaces that the first indented line has; 2 when there is none."""
    found = FIRST_STEP.search(text)
    return len(found[1]) if found else 2


def _synced(node: Any, value: Any, path: str, nodes: Nodes) -> Any:
    """``value`` as a node, made from what is there already."""
    if isinstance(node, CommentedMap) and isinstance(value, Mapping) and not _inherits(node, value):
        for key in [key for key in node if key not in value]:
            del node[key]
        for key, item in value.items():
            where, old = child(path, key), node.get(key, MISSING)
            new = _synced(nodes.get(where, MISSING) if old is MISSING else old, item, where, nodes)
            if new is not old:
                node[key] = new
        return node
    if isinstance(node, CommentedSeq) and isinstance(value, list) and _thinned(node, value):
        return node
    return node if _equal(node, value) else _new(value, path, nodes)


def _inherits(node: CommentedMap, value: Mapping[str, Any]) -> bool:
    """Whether a key that has to go comes from a merge (``<<``), out of which it cannot be taken."""
    own = {key for key, _ in node.non_merged_items()}
    return any(key not in value and key not in own for key in node)


def _thinned(node: CommentedSeq, value: list[Any]) -> bool:
    """Whether ``value`` is some of the entries, in their order; the others are then taken out."""
    kept: list[int] = []
    for index, item in enumerate(node):
        if len(kept) < len(value) and _equal(item, value[len(kept)]):
            kept.append(index)
    if len(kept) < len(value):
        return False
    for index in sorted(set(range(len(node))) - set(kept), reverse=True):
        del node[index]
    return True


def _equal(node: Any, value: Any) -> bool:
    plain = _plain(node)
    return type(plain) is type(value) and bool(plain == value)


def _plain(node: Any) -> Any:
    """A node's value in Python's own types."""
    if isinstance(node, Mapping):
        return {key: _plain(item) for key, item in node.items()}
    if isinstance(node, list):
        return [_plain(item) for item in node]
    for kind in (int, float, str):
        if isinstance(node, kind) and not isinstance(node, bool):
            return kind(node)
    return node


def _new(value: Any, path: str, nodes: Nodes) -> Any:
    """A node that is not there yet."""
    if isinstance(value, Mapping):
        return _synced(CommentedMap(), value, path, nodes)
    if isinstance(value, list):
        return CommentedSeq(_new(item, child(path, index), nodes) for index, item in enumerate(value))
    return value
