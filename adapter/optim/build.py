"""From ``train.optimizer`` to an optimizer over a model's parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.optim import LBFGS, Optimizer

from adapter.errors import REFUSALS, ConfigError, Problem, nearest, reason_of
from adapter.registry import OPTIMIZERS, check_arguments

if TYPE_CHECKING:
    from adapter.plan import Component


def build_optimizer(model: nn.Module, component: Component) -> Optimizer:
    """The optimizer a config names, over all parameters of ``model``, frozen ones included.

    ``param_groups``, when given, is a list of ``{regex, **settings}``: parameters whose name contains a match
    of ``regex`` get those settings (``lr``, ``weight_decay``, ...) in place of the optimizer's own. The first
    match wins; parameters that match none form the first group.

    Raises:
        ConfigError: Unknown name, arguments the optimizer does not take, values it refuses, or a ``regex``
            that is invalid or matches no parameter.
    """
    trial = try_optimizer(component)
    key = component.key or "optimizer"
    args = dict(component.args)
    groups = args.pop("param_groups", None)
    parameters: list[Any] = list(model.parameters())
    if groups:
        parameters = split_parameters(model, groups, f"{key}.param_groups", trial.defaults)
    try:
        return type(trial)(parameters, **args)
    except REFUSALS as error:
        raise ConfigError(Problem(key, f"{component.type} refuses its arguments: {reason_of(error)}")) from error


def try_optimizer(component: Component) -> Optimizer:
    """The optimizer a config names, over one parameter that belongs to no model; of two dimensions, which some ask for.

    Raises:
        ConfigError: Unknown name, arguments the optimizer does not take, or values it refuses.
    """
    key = component.key or "optimizer"
    cls: type[Optimizer] = OPTIMIZERS.resolve(component.type, f"{key}.type")
    if issubclass(cls, LBFGS):
        raise ConfigError(
            Problem(
                f"{key}.type",
                "LBFGS evaluates the model several times a step, which the training step here does not do",
                allowed="any other optimizer",
                kind="name",
            )
        )
    args = {name: value for name, value in component.args.items() if name != "param_groups"}
    check_arguments(cls, args, key, passed=("params",))
    try:
        return cls([nn.Parameter(torch.zeros(1, 1))], **args)
    except REFUSALS as error:
        raise ConfigError(Problem(key, f"{component.type} refuses its arguments: {reason_of(error)}")) from error


def split_parameters(
    model: nn.Module, groups: Sequence[Mapping[str, Any]], key: str, known: Iterable[str] = ()
) -> list[dict[str, Any]]:
    """Parameter groups as torch takes them: the parameters that match none first, then one group a rule.

    Args:
        model: Whose parameters.
        groups: The rules.
        key: Key of the rules in the config.
        known: Settings that the optimizer reads.

    Raises:
        ConfigError: A rule without a valid ``regex``, one that no parameter is left for, or a setting that is most
            likely a misspelled one.
    """
    patterns = _patterns(groups, key)
    _check_settings(groups, known, key)
    rest: list[nn.Parameter] = []
    members: list[list[nn.Parameter]] = [[] for _ in patterns]
    for name, parameter in model.named_parameters():
        rule = next((i for i, pattern in enumerate(patterns) if pattern.search(name)), None)
        (rest if rule is None else members[rule]).append(parameter)
    idle = [i for i, parameters in enumerate(members) if not parameters]
    if idle:
        allowed = f"part of a name such as {', '.join(name for name, _ in islice(model.named_parameters(), 5))}"
        found = "'{}' matches no parameter that is left for it"
        raise ConfigError([Problem(f"{key}[{i}].regex", found.format(patterns[i].pattern), allowed) for i in idle])
    settings = [{name: value for name, value in group.items() if name != "regex"} for group in groups]
    matched = [{"params": params, **own} for params, own in zip(members, settings, strict=True)]
    return [{"params": rest}, *matched] if rest else matched


def _check_settings(groups: Sequence[Mapping[str, Any]], known: Iterable[str], key: str) -> None:
    """Refuse names close to those of settings; others may be for a schedule of the user's own, and torch keeps them."""
    known = list(known)
    own = [(f"{key}[{i}].{name}", name) for i, group in enumerate(groups) for name in group]
    guessed = [(place, nearest(name, known)) for place, name in own if name not in (*known, "regex")]
    problems = [Problem(place, "no such setting", ", ".join(known), guess) for place, guess in guessed if guess]
    if problems:
        raise ConfigError(problems)


def _patterns(groups: Sequence[Mapping[str, Any]], key: str) -> list[re.Pattern[str]]:
    found, problems = [], []
    for i, group in enumerate(groups):
        try:
            found.append(re.compile(group["regex"]))
        except (KeyError, TypeError, re.error) as error:
            fix = "write {regex: <regular expression on parameter names>, lr: ...}"
            problems.append(Problem(f"{key}[{i}]", f"no valid 'regex': {error}", fix=fix))
    if problems:
        raise ConfigError(problems)
    return found
