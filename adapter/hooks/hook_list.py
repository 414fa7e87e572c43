"""HookList: the registered hooks in run order, and fast dispatch of a stage."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from adapter.hooks.hook import STAGES, Hook
from adapter.hooks.priority import Priority, get_priority

if TYPE_CHECKING:
    from adapter.base_trainer import BaseTrainer

Call = Callable[[Any], None]


class HookList:
    """Hooks sorted by priority; equal ones by rank (built-in order), then by registration.

    For each stage the bound methods of the hooks that do something in it are kept, so that an iteration calls no
    empty method. The weights are updated at OptimizerHook's priority, which divides ``after_train_iter`` in two.
    """

    def __init__(self) -> None:
        self._hooks: list[Hook] = []
        self._calls: dict[str, tuple[list[Call], list[Call]]] = {}

    def __iter__(self) -> Iterator[Hook]:
        return iter(self._hooks)

    def __len__(self) -> int:
        return len(self._hooks)

    def __getitem__(self, index: int) -> Hook:
        return self._hooks[index]

    def add(self, hook: Hook) -> None:
        """Put a hook in its place; after those of equal priority and rank.

        Raises:
            TypeError: Not a hook.
        """
        if not isinstance(hook, Hook):
            raise TypeError(f"a hook must be an instance of adapter.Hook, found {hook!r}")
        key = run_order(hook)
        place = next((i for i, other in enumerate(self._hooks) if run_order(other) > key), len(self._hooks))
        self._hooks.insert(place, hook)
        self._calls.clear()

    def run(self, stage: str, trainer: BaseTrainer) -> None:
        """Run a whole stage."""
        for calls in self._calls.get(stage) or self._bind(stage):
            run_calls(calls, stage, trainer)

    def run_until_update(self, stage: str, trainer: BaseTrainer) -> None:
        """Run a stage's hooks up to and including OptimizerHook's priority."""
        run_calls((self._calls.get(stage) or self._bind(stage))[0], stage, trainer)

    def run_after_update(self, stage: str, trainer: BaseTrainer) -> None:
        """Run a stage's hooks after OptimizerHook's priority."""
        run_calls((self._calls.get(stage) or self._bind(stage))[1], stage, trainer)

    def in_stage(self, stage: str) -> list[Hook]:
        """Hooks that do something in a stage, in run order."""
        return [hook for hook in self._hooks if does_something(hook, stage)]

    def _bind(self, stage: str) -> tuple[list[Call], list[Call]]:
        until: list[Call] = []
        after: list[Call] = []
        for hook in self.in_stage(stage):
            half = until if get_priority(hook.PRIORITY) <= Priority.ABOVE_NORMAL.value else after
            half.append(getattr(hook, stage))
        self._calls[stage] = until, after
        return until, after


def run_calls(calls: list[Call], stage: str, trainer: BaseTrainer) -> None:
    """Call the hooks' methods; one that fails is named in the log."""
    call = None
    try:
        for call in calls:
            call(trainer)
    except Exception:  # named in the log, then raised as it is
        name = type(getattr(call, "__self__", call)).__name__
        place = trainer.epoch + 1, trainer.iter
        trainer.logger.error("%s failed in stage %s, epoch %d, after %d iterations", name, stage, *place)
        raise


def run_order(hook: Hook) -> tuple[int, int]:
    """Sort key of a hook, less the order of registration."""
    return get_priority(hook.PRIORITY), hook.RANK


def does_something(hook: Hook, stage: str) -> bool:
    """Whether a hook overrides a stage, in its class or by a method set on the instance.

    A name that is not one of the documented stages is a stage of the user's own.
    """
    if stage not in STAGES:
        return hasattr(hook, stage)
    own = vars(hook)
    return stage in own or STAGES[stage] in own or type(hook).overrides(stage)
