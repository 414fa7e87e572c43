"""What becomes of each key of the user's file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adapter.config.config import Config
from adapter.config.paths import leaves
from adapter.dialects import detect, run
from adapter.dialects.move import Move, covers
from adapter.errors import Problem, nearest
from adapter.hooks.priority import Priority, get_priority
from adapter.plan import Plan, accepted_arguments, hook_class
from adapter.schema.hook_list import AMP_HOOKS
from adapter.schema.locate import Place, locate

NOBODY = "nothing reads it"
NOT_AVAILABLE = "documented, not available in this version"
REPLACED = {
    "train.optimizer.options": "train.optimizer_hook",
    "train.lr_scheduler.options": "train.lr_scheduler_hook",
}


@dataclass(frozen=True)
class Fate:
    """What became of one key.

    Attributes:
        key: Its path in the user's file; it holds no further keys.
        value: What it holds.
        fate: ``same`` used as it is, ``moved`` used under another key, ``dropped`` known but without effect,
            ``refused`` known but not possible here, or ``unread`` not known.
        target: What it sets; empty when it sets nothing.
        note: What else there is to know: the documented key, the reason, the nearest known name.
        line: Line in the file, counted from 1, when known.
        block: The key above it, or itself, whose whole value goes the same way.
    """

    key: str
    value: Any
    fate: str
    target: str = ""
    note: str = ""
    line: int | None = None
    block: str = ""


def fates(original: Config, config: Config, moves: Sequence[Move], plan: Plan) -> tuple[Fate, ...]:
    """One fate for each key of the user's file that holds no further keys.

    Args:
        original: The file, with overrides, before anything was moved.
        config: The documented config it became.
        moves: What was moved.
        plan: The plan made from ``config``.
    """
    foreign = detect(original) == "run"
    rows = []
    for path, value in leaves(original):
        if not path:
            continue  # an empty config
        row = _foreign(path, value) if foreign else _moved(path, value, config, moves, plan)
        rows.append(replace(row, line=original.line_of(path)))
    return tuple(rows)


def unread(rows: Sequence[Fate]) -> list[Problem]:
    """A problem for each key that nothing reads, for those who want to be strict."""
    return [
        Problem(
            row.key, "nothing reads this key", fix="leave it out" if row.note == NOBODY else row.note, line=row.line
        )
        for row in rows
        if row.fate == "unread"
    ]


def _foreign(path: str, value: Any) -> Fate:
    """The fate of a key of the ``run:`` schema."""
    move = run.move_of(path)
    if move is None:
        section, _, name = path.partition(".")
        near = _did_you_mean(name or section, run.keys_of(section))
        return Fate(path, value, "unread", note=near or NOBODY)
    return Fate(path, value, move.fate, move.to, move.reason, block=move.key)


def _moved(path: str, value: Any, config: Config, moves: Sequence[Move], plan: Plan) -> Fate:
    """The fate of a key after the moves: that of the documented key it became."""
    move = next((move for move in moves if covers(move.key, path)), None)
    if move and not move.to:
        return Fate(path, value, move.fate, note=move.reason)
    documented = move.to + path[len(move.key) :] if move else path
    place = locate(config, documented)
    row = replace(
        _documented(documented, value, place, plan),
        block=move.key + place.block[len(move.to) :] if move else place.block,
    )
    if move and move.fate == "moved" and row.fate == "same":
        name = move.to if documented == f"{move.to}.type" else documented  # a hook's key says its type
        note = "; ".join(filter(None, [f"as {name}", move.reason, row.note]))
        row = replace(row, fate="moved", note=note)
    return replace(row, key=path)


def _documented(path: str, value: Any, place: Place, plan: Plan) -> Fate:
    """The fate of a documented key, or of one that nobody knows."""
    if not place.known:
        name = place.block.rpartition(".")[2]
        own = "a key of your own, kept in the config" if name == place.block else NOBODY
        return Fate(path, value, "unread", note=_did_you_mean(name, place.siblings) or own)
    if path == "train.use_fp16" and "train.optimizer_hook" in (
        hook.key for hook in plan.hooks if hook.type in AMP_HOOKS
    ):
        return Fate(path, value, "dropped", note="train.optimizer_hook asks for mixed precision itself")
    replaced = next(
        (hook for options, hook in REPLACED.items() if covers(options, path) and _stands_in(hook, plan)), ""
    )
    if replaced:
        return Fate(path, value, "dropped", note=f"{replaced} replaces the hook that these options are for")
    if place.hook:
        return _of_hook(path, value, place)
    if place.doc.no_effect:
        return Fate(path, value, "dropped", note=place.doc.no_effect)
    return Fate(path, value, "same", place.target, _null(value))


def _of_hook(path: str, value: Any, place: Place) -> Fate:
    """The fate of a hook's type or argument."""
    cls = hook_class(place.hook)
    if cls is None:
        return Fate(path, value, "refused", note=f"no hook is called {place.hook!r}")
    accepted = accepted_arguments(cls)
    if place.argument not in ("", "type") and accepted is not None and place.argument not in accepted:
        return Fate(path, value, "dropped", note=f"{place.hook}.{place.argument}: {NOT_AVAILABLE}")
    if place.doc.no_effect:
        return Fate(path, value, "dropped", note=place.doc.no_effect)
    priority = get_priority(cls.PRIORITY)
    name = next((f"{item.name} " for item in Priority if item.value == priority), "")
    target = f"{place.hook} ({name}{priority})"
    below = f": {place.argument}" if place.argument not in ("", "type") else ""
    return Fate(path, value, "same", target + below, _null(value))


def _stands_in(key: str, plan: Plan) -> bool:
    """Whether the hook at an old key has taken the place of the one that training would add."""
    added = {"train.optimizer_hook": "OptimizerHook", "train.lr_scheduler_hook": "LrSchedulerHook"}[key]
    return any(hook.key == key for hook in plan.hooks) and not any(
        hook.type == added and not hook.key for hook in plan.hooks
    )


def _did_you_mean(name: str, known: Sequence[str] | Mapping[str, Any]) -> str:
    near = nearest(name, known)
    return f"did you mean {near}?" if near else ""


def _null(value: Any) -> str:
    return "null: as if it were absent" if value is None else ""
