"""What a ``run:`` config has to have: its sections, the keys a run needs, names that exist."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from adapter.config import ConfigDict
from adapter.dialects.run import callbacks
from adapter.dialects.run_settings import differences, iterations, settings, two_spellings
from adapter.errors import ConfigError, Problem
from adapter.registry import CALLBACKS, check_arguments
from adapter.runner.registration import registry
from adapter.schema.check import check_section
from adapter.schema.run_section import RunSection

Rule = Callable[[Mapping[str, Any]], Iterator[Problem]]
PROCESSORS = ("transform", "vis_processor", "text_processor")


def run_problems(config: Mapping[str, Any]) -> list[Problem]:
    """Every problem of a ``run:`` config, less those of its hooks."""
    problems = list(sections_are_there(config))
    if any(problem.kind == "value" for problem in problems):
        return problems
    problems += check_section(RunSection, config.get("run") or {}, "run")
    if any(problem.kind == "value" for problem in problems):
        return problems
    for rule in RULES:
        problems += rule(config)
    return list({problem.key: problem for problem in reversed(problems)}.values())[::-1]


def sections_are_there(config: Mapping[str, Any]) -> Iterator[Problem]:
    """A run is described by its model, its data and the way it is trained."""
    for section in ("model", "run", "dataset", "datasets"):
        value = {} if config.get(section) is None else config[section]
        if not isinstance(value, Mapping):
            yield Problem(section, f"found {value!r}", "a mapping")
        elif not value and section in ("model", "run"):
            yield Problem(section, "the section is missing", fix=f"add {section}: to the file", kind="missing")
    if not config.get("dataset") and not config.get("datasets"):
        fix = "add dataset: with train_cfg and val_cfg"
        yield Problem("dataset", "the section is missing", "dataset or datasets", fix=fix, kind="missing")
    if config.get("dataset") and config.get("datasets"):
        yield Problem("datasets", "given beside dataset", fix="keep one of the two")


def keys_are_given(config: Mapping[str, Any]) -> Iterator[Problem]:
    """Keys without a default; an evaluation needs fewer."""
    run = settings(config)
    if not run.get("task"):
        yield _missing("run.task", "the name of a task")
    if run.evaluate:
        if not (run.valid_splits or run.test_splits):
            found = "true, but there is no data to evaluate on"
            fix = "add dataset.val_cfg, or run.valid_splits or run.test_splits for datasets"
            yield Problem("run.evaluate", found, fix=fix, kind="missing")
        if run.get("batch_size_val") is None:
            yield _missing("run.batch_size_val", "an integer of 1 or more")
        return
    yield from _length(run)
    for key, allowed in (("batch_size", "an integer of 1 or more"), ("init_lr", "a number of 0 or more")):
        if run.get(key) is None:
            yield _missing(f"run.{key}", allowed)
    if run.lr_sched == "linear_warmup_step_lr" and run.get("lr_decay_rate") is None:
        yield _missing("run.lr_decay_rate", "a number of 0 or more, for linear_warmup_step_lr")


def data_are_named(config: Mapping[str, Any]) -> Iterator[Problem]:
    """Each data set and each processor has a name that is registered."""
    dataset, run = config.get("dataset") or {}, settings(config)
    asked = () if run.evaluate else ("train",)
    for split in dict.fromkeys(("train", "val", *run.valid_splits, *run.test_splits)) if dataset else ():
        key, entry = f"dataset.{split}_cfg", dataset.get(f"{split}_cfg")
        if entry is None and split not in (*asked, *run.valid_splits, *run.test_splits):
            continue
        if not isinstance(entry, Mapping) or not entry.get("name"):
            yield _missing(f"{key}.name", "the name of a data set")
            continue
        yield from _named("dataset", entry["name"], f"{key}.name")
        yield from _processors(entry, key)
    for name, entry in (config.get("datasets") or {}).items():
        yield from _named("dataset", name, f"datasets.{name}")
        if entry is not None and not isinstance(entry, Mapping):
            yield Problem(f"datasets.{name}", f"found {entry!r}", "a mapping, or nothing")
            continue
        yield from _processors(entry or {}, f"datasets.{name}")


def names_exist(config: Mapping[str, Any]) -> Iterator[Problem]:
    """The model, the task and the schedule are registered."""
    run = settings(config)
    model = config.get("model") or {}
    if model and not model.get("arch"):
        yield _missing("model.arch", "the name of a model")
    elif model:
        yield from _named("model", model["arch"], "model.arch")
    if run.get("task"):
        yield from _named("task", run.task, "run.task")
    if not run.evaluate:
        yield from _named("lr_scheduler", run.lr_sched, "run.lr_sched")


def callbacks_take_their_arguments(config: Mapping[str, Any]) -> Iterator[Problem]:
    """What ``run.hooks`` gives a Lightning callback."""
    for key, entry in callbacks(config.get("run") or {}):
        arguments = {name: value for name, value in entry.items() if name != "type"}
        try:
            check_arguments(CALLBACKS.resolve(entry["type"], f"{key}.type"), arguments, key)
        except ConfigError as error:
            yield from error.problems


RULES: tuple[Rule, ...] = (
    keys_are_given,
    names_exist,
    data_are_named,
    callbacks_take_their_arguments,
    two_spellings,
    differences,
)


def _length(run: ConfigDict) -> Iterator[Problem]:
    """A run is as long as its epochs, or as its iterations in stretches of so many."""
    allowed = "an integer of 1 or more"
    absent = [key for key in ("max_iters", "iters_per_inner_epoch") if run.get(key) is None]
    if len(absent) == 1 and (run.runner == "runner_iter" or iterations(run)[0] is None):
        yield _missing(f"run.{absent[0]}", allowed)
    elif iterations(run)[0] is None:
        yield _missing("run.max_epoch", f"{allowed}; or max_iters and iters_per_inner_epoch")


def _processors(entry: Mapping[str, Any], key: str) -> Iterator[Problem]:
    for item in PROCESSORS:
        chosen = entry.get(item)
        if chosen and not isinstance(chosen, Mapping):
            yield Problem(f"{key}.{item}", f"found {chosen!r}", "a mapping with the name of a processor")
        if not isinstance(chosen, Mapping):
            continue
        modes = {f"{key}.{item}": chosen} if "name" in chosen else {f"{key}.{item}.{k}": v for k, v in chosen.items()}
        for where, processor in modes.items():
            if isinstance(processor, Mapping) and processor.get("name"):
                yield from _named("processor", processor["name"], f"{where}.name")
            elif processor and not isinstance(processor, Mapping):
                yield Problem(where, f"found {processor!r}", "a mapping with the name of a processor")
            elif processor:
                yield _missing(f"{where}.name", "the name of a processor")


def _named(kind: str, name: object, key: str) -> Iterator[Problem]:
    problem = registry.problem(kind, name, key)
    if problem:
        yield problem


def _missing(key: str, allowed: str) -> Problem:
    return Problem(
        key, "not given", allowed, kind="missing", fix=f"add {key.rpartition('.')[2]} to {key.rpartition('.')[0]}"
    )
