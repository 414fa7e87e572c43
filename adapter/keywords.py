"""Whether what is passed to the trainer in code is of a kind that it can use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import lightning as L

from adapter.errors import ConfigError, Problem, nearest
from adapter.hooks.hook import Hook

PLAN_KEYWORDS = (
    "max_epochs",
    "work_dir",
    "train_iters_per_epoch",
    "val_iters_per_epoch",
    "use_fp16",
    "launcher",
    "fast_dev_run",
)
# Lightning's own name for what a keyword says.
LIMITS = {"limit_train_batches": "train_iters_per_epoch", "limit_val_batches": "val_iters_per_epoch"}
OTHER_KEYWORDS = (
    "device",
    "remove_unused_data",
    "compile",
    "compile_options",
    "trust_remote_code",
    "cfg_options",
    "trainer_args",
    "gpu_collect",
    "cache_dir",
    "purpose",
)
PURPOSES = ("train", "evaluate", "predict")

Check = Callable[[Any], bool]
MODES = ("train", "val")


def check_keywords(given: Mapping[str, Any]) -> None:
    """Refuse values of the wrong kind, all at once; what is None, or absent, is left to its default.

    Args:
        given: Keyword to value, of the trainer's constructor.

    Raises:
        ConfigError: There is one; names the keyword, what was found and what is allowed.
    """
    problems = [problem for name, value in given.items() if value is not None for problem in _problems(name, value)]
    if problems:
        raise ConfigError(problems)


def unknown_keywords(given: Iterable[str], arguments: Iterable[str]) -> list[str]:
    """A sentence for each keyword that nobody reads.

    Args:
        given: Keywords of the trainer's constructor beside its arguments.
        arguments: Names of those.
    """
    known = (*arguments, *PLAN_KEYWORDS, *OTHER_KEYWORDS)
    return [
        f"keyword '{name}' is not known to the trainer and has no effect"
        + (f"; did you mean '{nearest(name, known)}'?" if nearest(name, known) else "")
        for name in given
        if name not in known
    ]


def _problems(name: str, value: Any) -> Iterator[Problem]:
    if name == "callbacks" and _is_list(value):
        for index, entry in enumerate(value):
            if not isinstance(entry, (Hook, L.Callback)):
                yield _problem(f"callbacks[{index}]", entry, "a Hook or a Lightning callback")
    elif name in BY_MODE:
        fits, allowed = BY_MODE[name]
        modes = {f"{name}.{mode}": value.get(mode) for mode in MODES} if isinstance(value, Mapping) else {name: value}
        for key, entry in modes.items():
            if entry is not None and not fits(entry):
                yield _problem(key, entry, allowed if "." in key else f"{allowed}, or a mapping with train and val")
    elif name in KINDS and not KINDS[name][0](value):
        yield _problem(name, value, KINDS[name][1])


def _problem(key: str, value: Any, allowed: str) -> Problem:
    if isinstance(value, type):
        return Problem(key, f"found the class {value.__name__}", allowed, fix=f"make one: {value.__name__}(...)")
    text = repr(value)
    shown = text if len(text) <= 60 else f"{text[:57]}..."
    return Problem(key, f"found {shown}, of the type {type(value).__name__}", allowed)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _is_mapping(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_pair(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and len(value) == 2


def _is_sampler(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, (str, type))


def _is_purpose(value: Any) -> bool:
    return value in PURPOSES


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool)


BY_MODE: dict[str, tuple[Check, str]] = {
    "data_collator": (callable, "a function from a list of samples to a batch"),
    "preprocessor": (callable, "a function from a sample to a sample"),
    "samplers": (_is_sampler, "a torch Sampler"),
}
KINDS: dict[str, tuple[Check, str]] = {
    "cfg_modify_fn": (callable, "a function that gets the config, or TrainingArgs"),
    "arg_parse_fn": (callable, "a function that gets a list of words"),
    "optimizers": (_is_pair, "a pair (optimizer, scheduler), None for either"),
    "callbacks": (_is_list, "a list of Hooks and Lightning callbacks"),
    "cfg_options": (_is_mapping, "a mapping from dotted keys to values"),
    "trainer_args": (_is_mapping, "a mapping from arguments of lightning.Trainer to values"),
    "compile": (_is_truth, "True or False"),
    "compile_options": (_is_mapping, "a mapping from arguments of torch.compile to values"),
    "purpose": (_is_purpose, ", ".join(PURPOSES)),
    "remove_unused_data": (_is_truth, "True or False"),
}
