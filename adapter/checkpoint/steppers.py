"""The state of an optimizer or a schedule; or of several, in a mapping by names of the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def each(stepper: Any) -> list[Any]:
    """The members of a mapping; the optimizer or schedule itself when it is one; none for None."""
    if stepper is None:
        return []
    return [inner(one) for one in (stepper.values() if isinstance(stepper, Mapping) else [stepper])]


def inner(stepper: Any) -> Any:
    """The optimizer in DeepSpeed's wrapper, which is what a schedule knows; anything else as it is."""
    return stepper.optimizer if hasattr(stepper, "optimizer") and hasattr(stepper, "param_groups") else stepper


def class_names(stepper: Any) -> str:
    """The class, or ``name: class`` of each."""
    if isinstance(stepper, Mapping):
        return ", ".join(f"{name}: {type(one).__name__}" for name, one in stepper.items())
    return type(inner(stepper)).__name__


def state_of(stepper: Any) -> dict[str, Any]:
    """Its state; of several, the state of each by its name."""
    if isinstance(stepper, Mapping):
        return {name: one.state_dict() for name, one in stepper.items()}
    state: dict[str, Any] = stepper.state_dict()
    return state


def load_state(stepper: Any, state: Mapping[str, Any]) -> None:
    """Put back what ``state_of`` returned.

    Raises:
        ValueError: Other names, or a state that does not fit.
    """
    if not isinstance(stepper, Mapping):
        stepper.load_state_dict(state)
        return
    if stepper.keys() != state.keys():
        raise ValueError(f"there are {', '.join(map(str, state))}, but this run has {', '.join(map(str, stepper))}")
    for name, one in stepper.items():
        one.load_state_dict(state[name])
