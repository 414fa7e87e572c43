"""Which strategy a run gets: the user's argument, else the config's hook, else by the number of processes."""

from __future__ import annotations

from collections.abc import Iterator

from lightning.pytorch.strategies import DDPStrategy, SingleDeviceStrategy, Strategy

from adapter.errors import ConfigError, Problem, nearest
from adapter.lightning.strategies.strategy import RunStrategy
from adapter.plan import Plan
from adapter.registry import STRATEGIES
from adapter.schema.tuners import TUNER_OPTIONS

COPIES = ("ddp_spawn", "ddp_fork", "ddp_notebook")  # Lightning's names for processes that are copies of this one


def is_default(strategy: Strategy) -> bool:
    """Whether a strategy is one that Lightning chooses when nobody asks for any."""
    plain = type(strategy) is DDPStrategy and not strategy._ddp_kwargs
    return plain or isinstance(strategy, SingleDeviceStrategy)


def choose_strategy(plan: Plan, asked: Strategy | str | None, processes: int) -> RunStrategy:
    """The strategy of a run.

    Args:
        plan: The run.
        asked: Lightning's ``strategy`` argument, when the user gave one: our names, Lightning's, or an object.
        processes: How many there are, or will be.

    Raises:
        ConfigError: A strategy that cannot be used here, or what is wrong with the plan under it.
    """
    strategy = _named(plan, asked) if asked not in (None, "auto") else _from_plan(plan, processes)
    problems = [*strategy.problems(processes), *_needs_whole_parameters(plan, strategy)]
    if problems:
        raise ConfigError(problems)
    return strategy


def _needs_whole_parameters(plan: Plan, strategy: RunStrategy) -> Iterator[Problem]:
    """What the plan asks for that a strategy which shares the parameters out cannot do."""
    if strategy.whole_parameters:
        return
    asked = [f"{plan.tuners.key}.{name}" for name in TUNER_OPTIONS if getattr(plan.tuners, name)]
    asked += [f"{hook.key}.save_trainable_only" for hook in plan.hooks if hook.args.get("save_trainable_only")]
    asked += [hook.key for hook in plan.hooks if hook.type == "EMAHook"]
    for key in asked:
        found = (
            "the files of a model that is shared among processes hold its weights as they are trained, and all of them"
        )
        yield Problem(key, found, fix="leave it out, or train without that strategy")


def _from_plan(plan: Plan, processes: int) -> RunStrategy:
    """DDP is for several processes: one alone runs as if nobody had asked for it."""
    name = plan.strategy
    if name in ("auto", "ddp"):
        name = "ddp" if processes > 1 else "auto"
    strategy: RunStrategy = STRATEGIES.resolve(name)(plan)
    return strategy


def _named(plan: Plan, asked: Strategy | str | None) -> RunStrategy:
    if isinstance(asked, str) and asked in STRATEGIES:
        named: RunStrategy = STRATEGIES.resolve(asked)(plan)
        return named
    if isinstance(asked, str) and asked.startswith(COPIES):
        found = f"'{asked}' copies this process, which a trainer with its hooks and files does not survive"
        raise ConfigError(Problem("trainer.strategy", found, fix="use ddp, which runs the program again"))
    for name in STRATEGIES.names():
        cls = STRATEGIES.resolve(name)
        if cls.accepts(asked):
            accepted: RunStrategy = cls(plan, asked)
            return accepted
    known = STRATEGIES.names()
    guess = nearest(asked, known) if isinstance(asked, str) else ""
    raise ConfigError(Problem("trainer.strategy", f"found {asked!r}", ", ".join(known), guess))
