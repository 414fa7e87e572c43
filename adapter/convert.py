"""Convert a config into an ordinary LightningCLI file; nothing is built, and neither torch nor Lightning imported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from adapter.config import yaml12
from adapter.config.paths import child
from adapter.config.writing import portable
from adapter.converted.run_sections import split_run
from adapter.converted.sections import HookEntry, Sections, split
from adapter.converted.text import marked
from adapter.dialects import detect
from adapter.dialects.run_settings import settings
from adapter.errors import ConfigError, Problem
from adapter.plan import DEFAULT_WORK_DIR, Plan, make_plan
from adapter.prepare import Prepared

DEFAULT_SEED = 42
HEAD = """# A LightningCLI file, made from {source} by `adapter convert`.
#   adapter lightning fit --config FILE [--trainer.max_epochs 5] [--model.init_args.optimizer.lr 0.01] [--print_config]
# It runs from a script of your own, too:  from lightning.pytorch.cli import LightningCLI; LightningCLI()
"""
COMMENTS = {
    "trainer": "what the hooks do (checkpoints, log lines, evaluation) is switched off in Lightning",
    "  callbacks": "the hooks; they run by their priorities, whatever their order here",
    "model": "sections model, train and evaluation of the config",
    "data": "sections dataset and preprocessor, and the loaders",
}
RUN_COMMENTS = {
    **COMMENTS,
    "  callbacks": "those of run.hooks",
    "model": "sections model and run of the config; what the trainer has, too, is the trainer's to say",
    "data": "section dataset, or datasets",
}
# What a run of ours asks of lightning.Trainer.
TRAINER = {
    "accelerator": "auto",
    "devices": 1,
    "strategy": "auto",
    "logger": False,
    "enable_checkpointing": False,
    "enable_model_summary": False,
    "num_sanity_val_steps": 0,
    "inference_mode": False,
    "use_distributed_sampler": False,
}
ASIDE = ("metrics", "task", "preprocessor", "imports", "trust_remote_code", "base_dir")  # no mapping, or not always


def lightning_file(prepared: Prepared, seed: int | None, imports: list[str], trust: bool, base_dir: str) -> str:
    """The text of the file.

    Args:
        prepared: The config on its documented keys, checked.
        seed: Of every random number generator; None for ``run.seed``, else 42.
        imports: Modules or Python files that register the user's own classes; files as seen from the file's folder.
        trust: Allow code that the config names.
        base_dir: Folder that relative paths of the data start from, as seen from the file's.

    Raises:
        ConfigError: Every value that a file cannot hold, or LightningCLI would make something else of.
    """
    original, is_run = prepared.original, detect(prepared.original) == "run"
    config = original if is_run else prepared.config
    problems = [problem for path, value in _all(config, "") for problem in _refusals(path, value)]
    if problems:
        raise ConfigError(problems, original.filename)
    plan = make_plan(prepared.config)
    sections = split_run(config, plan.trainer) if is_run else split(config)
    model, data = _arguments(sections.model), _arguments(sections.data)
    if imports:
        model["imports"] = imports
    if trust:
        model["trust_remote_code"] = True
    if not is_run:
        data["base_dir"] = base_dir
    document = {
        "seed_everything": settings(original).get("seed", DEFAULT_SEED) if seed is None else seed,
        "trainer": _trainer(sections, plan),
        "model": {"class_path": "adapter.converted.ConfigModel", "init_args": model},
        "data": {"class_path": "adapter.converted.ConfigData", "init_args": data},
    }
    body = yaml12.write(portable(document)).splitlines()
    comments = RUN_COMMENTS if is_run else COMMENTS
    commented = (f"{line}  # {comments[line[:-1]]}" if line[:-1] in comments else line for line in body)
    return HEAD.format(source=original.filename or "a config") + "\n".join(commented) + "\n"


def _trainer(sections: Sections, plan: Plan) -> dict[str, Any]:
    """Arguments of ``lightning.Trainer``: the config's, ours, and the hooks."""
    return {
        "default_root_dir": DEFAULT_WORK_DIR,
        **sections.trainer,
        **(TRAINER | sections.trainer),
        "precision": plan.precision,
        "callbacks": [_callback(entry) for entry in sections.hooks],
    }


def _callback(entry: HookEntry) -> dict[str, Any]:
    arguments: dict[str, Any] = {"type": entry.type}
    if entry.args is not None:
        arguments["args"] = marked(entry.args)
    if entry.key:
        arguments["key"] = entry.key
    return {"class_path": "adapter.converted.ConfigHook", "init_args": arguments}


def _arguments(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value if name in ASIDE else marked(value) for name, value in values.items()}


def _all(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every value of a config, containers included, with its path."""
    yield path, value
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _all(item, child(path, key))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _all(item, child(path, index))


def _refusals(path: str, value: Any) -> Iterator[Problem]:
    """What speaks against a value in a file."""
    text = portable(value) if not isinstance(value, (Mapping, list, tuple)) else ""
    if isinstance(text, str) and text.startswith(("<callable:", "<expr:")):
        found = f"an object made by code, {text}, which a file cannot name"
        yield Problem(path, found, fix="register its class and name that, or go on with a script and build_trainer")
    if isinstance(value, Mapping) and "class_path" in value:
        found = "a mapping with a class_path, which LightningCLI would build an object from"
        yield Problem(path, found, fix="give the key another name")
    if isinstance(value, Mapping) and path.count(".") < 2 and any(not isinstance(key, str) for key in value):
        key = next(key for key in value if not isinstance(key, str))
        yield Problem(child(path, key), "a key that is no text, which LightningCLI does not take", fix=f"write '{key}'")
