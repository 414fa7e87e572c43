"""Explain a config: what becomes of each key, which hooks run when, and what a run would refuse."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from adapter.dialects import detect
from adapter.errors import ConfigError, Problem
from adapter.fates import Fate, fates, unread
from adapter.hooks.hook import STAGES
from adapter.plan import Plan, hook_class, make_plan, priority_of
from adapter.prepare import problems_of
from adapter.schema import where_written
from adapter.schema.files_there import missing_files

if TYPE_CHECKING:
    from adapter.prepare import Prepared

SHOWN_AS_ONE = ("model", "dataset", "datasets", "preprocessor", "pipeline", "megatron", "env")
KEY_WIDTH, VALUE_WIDTH, FATE_WIDTH = 46, 24, 7
COLUMNS = ("key", "value", "fate", "becomes")
TITLES = {"modelscope": "ModelScope schema", "run": "run: schema"}
FATAL = ("value", "file")


@dataclass(frozen=True)
class Explanation:
    """What a config means.

    Attributes:
        file: The config file; empty for a config made in code.
        dialect: The schema it is written in.
        rows: One for each key of the file that holds no further keys.
        hooks: Hooks in run order: type, arguments, key and priority of each.
        stages: For each stage, the hooks that do something in it, in run order.
        problems: What ``fit`` would refuse.
        warnings: What ``fit`` would say before it starts.
    """

    file: str
    dialect: str
    rows: tuple[Fate, ...]
    hooks: tuple[dict[str, Any], ...] = ()
    stages: dict[str, list[str]] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()

    def unread_problems(self) -> list[Problem]:
        """A problem for each key that nothing reads."""
        return unread(self.rows)

    def as_json(self) -> str:
        """Everything as one JSON object; ``rows`` has every key."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False, default=str)

    @property
    def title(self) -> str:
        """The file and its schema."""
        return f"{self.file or 'config'} ({TITLES[self.dialect]})"

    def table(self) -> list[tuple[str, str, str, str]]:
        """Key, value, fate and what it becomes, as texts; the keys of a free-form block are one row."""
        return [
            (row.key, _text(row.value).replace("\n", " "), row.fate, ", ".join(filter(None, [row.target, row.note])))
            for row in _collapsed(self.rows)
        ]

    def remarks(self) -> str:
        """What there is to say besides the keys: the hooks by stage, warnings, and what ``fit`` would refuse."""
        order = [f"  {stage:<18} {', '.join(names)}" for stage, names in self.stages.items() if names]
        parts = _block("Hooks, in the order they run", order)
        parts += _block("Warnings", [f"  {text}" for text in self.warnings])
        refused = [textwrap.indent(str(problem), "  ") for problem in self.problems]
        return "\n".join(parts + _block("fit would refuse this config", refused))

    def as_text(self, width: int = 120) -> str:
        """Everything as plain lines, ``width`` columns wide."""
        return "\n".join([self.title, "", *_lines(self.table(), width), *filter(None, [self.remarks()])])


def explain_plan(prepared: Prepared, strict: bool = False) -> Explanation:
    """Explain a config whose old keys have been moved.

    Args:
        prepared: The config as written, as moved, and the moves.
        strict: Refuse keys that nothing reads.

    Raises:
        ConfigError: A value of the wrong type or range, or with ``strict`` a key that nothing reads. Names
            that are unknown here and keys that are missing raise nothing: they are listed in ``problems``.
    """
    found = _explain(prepared)
    unknown = found.unread_problems() if strict else []
    if unknown or any(problem.kind in FATAL for problem in found.problems):
        raise ConfigError([*found.problems, *unknown], prepared.original.filename)
    return found


def _explain(prepared: Prepared) -> Explanation:
    original, config, moves = prepared.original, prepared.config, prepared.moves
    plan = make_plan(config)
    problems = problems_of(prepared)
    if detect(original) != "run":
        told = {problem.key for problem in problems}
        absent = (where_written(problem, original, moves) for problem in missing_files(config))
        problems += [problem for problem in absent if problem.key not in told]
    refused = {problem.key: problem.found for problem in problems}
    rows = fates(original, config, moves, plan)
    return Explanation(
        original.filename or "",
        detect(original),
        tuple(replace(row, fate="refused", note=refused[row.key]) if row.key in refused else row for row in rows),
        hooks=tuple({**asdict(hook), "priority": priority_of(hook)} for hook in plan.hooks),
        stages=_stages(plan),
        problems=tuple(problems),
        warnings=plan.warnings,
    )


def _stages(plan: Plan) -> dict[str, list[str]]:
    """For each stage the hooks that override it; those without a class here are in none."""
    classes = [cls for cls in (hook_class(hook.type) for hook in plan.hooks) if cls is not None]
    return {stage: [cls.__name__ for cls in classes if cls.overrides(stage)] for stage in STAGES}


def _lines(rows: Iterable[tuple[str, str, str, str]], width: int) -> Iterator[str]:
    """Aligned lines with a heading."""
    left = KEY_WIDTH + VALUE_WIDTH + FATE_WIDTH + 6
    for key, value, fate, becomes in (COLUMNS, *rows):
        head = f"{_cut(key, KEY_WIDTH):<{KEY_WIDTH}}  {_cut(value, VALUE_WIDTH):<{VALUE_WIDTH}}  {fate:<{FATE_WIDTH}}  "
        what = textwrap.wrap(becomes, max(width - left, 30)) or [""]
        yield (head + what[0]).rstrip()
        yield from (" " * left + line for line in what[1:])


def _collapsed(rows: Iterable[Fate]) -> Iterator[Fate]:
    """Rows of which the keys of a free-form block that go the same way are one."""
    for (block, fate), group in groupby(rows, key=lambda row: (_block_of(row), row.fate)):
        members = list(group)
        if len(members) == 1:
            yield members[0]
        else:
            yield replace(members[0], key=block, value=f"({len(members)} keys)", fate=fate, target=_shared(members))


def _shared(rows: Sequence[Fate]) -> str:
    """The target that rows have in common: the whole, or what comes before the names of their own."""
    targets = {row.target for row in rows}
    return targets.pop() if len(targets) == 1 else rows[0].target.partition(":")[0]


def _block_of(row: Fate) -> str:
    top = row.key.partition(".")[0].partition("[")[0]
    return top if top in SHOWN_AS_ONE else row.block or row.key


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."


def _block(title: str, lines: Sequence[str]) -> list[str]:
    return ["", f"{title}:", *lines] if lines else []
