"""A run from its config file to its end: the stages in order, one call each.

    load → prepare → check → make_plan → trainer → train

``adapter fit`` and ``EpochBasedTrainer`` both go this way; there is no other.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter.dialects import detect
from adapter.errors import ConfigError, Problem
from adapter.explain import Explanation, explain_plan
from adapter.prepare import UNTRUSTED, check, load, prepare, refuse_untrusted
from adapter.user_code import declared_imports, import_user_code

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer


@dataclass(frozen=True)
class Request:
    """What a command line adds to a config file.

    Attributes:
        path: The config file, or a model directory, whose ``configuration.json`` it is.
        overrides: Dotted key to value, on top of the file.
        imports: Modules or Python files that register the user's own classes.
        trust_remote_code: Allow what runs code a config names: ``.py`` configs, ``plugins``, ``custom_imports``.
        strict: Refuse keys that nobody reads.
        work_dir: Folder for everything written; None leaves it to the config.
        seed: Of every random number generator; None for the config's own, else 42.
        trainer_args: Arguments for ``lightning.Trainer``, which win over the plan's.
        resume: Checkpoint to go on from; ``last`` for the newest pair in the work directory.
        weights_only: Take the weights of that checkpoint alone, and begin a new run.
    """

    path: str
    overrides: Mapping[str, Any] = field(default_factory=dict)
    imports: Sequence[str] = ()
    trust_remote_code: bool = False
    strict: bool = False
    work_dir: str | None = None
    seed: int | None = None
    trainer_args: Mapping[str, Any] = field(default_factory=dict)
    resume: str | None = None
    weights_only: bool = False


def fit(request: Request) -> EpochBasedTrainer:
    """Train what a config file describes.

    Raises:
        ConfigError: The config cannot be run as written, or there is no whole checkpoint of this model and optimizer to
            go on from; nothing has been written to disk.
    """
    from adapter.hooks.load_checkpoint import GIVEN_IN_CODE

    if request.weights_only and request.resume is None:
        raise ConfigError(Problem("--weights-only", "no checkpoint is given", fix="name one with --resume"))
    trainer = build(request)
    checkpoint = None
    if request.resume:
        with checkpoint_given_by("--resume", request.resume):
            checkpoint = trainer.resume_point(request.resume, request.weights_only)
    try:
        trainer.train(checkpoint, load_all_state=not request.weights_only)
    except ConfigError as error:  # what is wrong with the checkpoint is the option's problem
        told = [replace(each, key="--resume") if each.key == GIVEN_IN_CODE else each for each in error.problems]
        raise ConfigError(told, error.file) from error
    return trainer


def validate(request: Request, checkpoint: str | None = None) -> dict[str, Any]:
    """Evaluate what a config file describes, with a checkpoint's weights; returns name to value.

    Raises:
        ConfigError: The config cannot be run as written, or there is no such checkpoint of this model.
    """
    trainer = build(request, "evaluate")
    if checkpoint is not None:
        with checkpoint_given_by("--ckpt", checkpoint):
            trainer.load_checkpoint(checkpoint, strict=True)
    return trainer.evaluate()


def predict(request: Request, checkpoint: str, out: str) -> int:
    """Write what a checkpoint makes of the evaluation data, one JSON object a sample; returns the number of samples.

    The file is there whole or not at all.

    Raises:
        ConfigError: The config cannot be run as written, has no evaluation data, ``out`` is no file to write, or there
            is no such checkpoint of this model.
    """
    if Path(out).is_dir():
        raise ConfigError(Problem("--out", f"'{out}' is a folder", fix="name a file"))
    trainer = build(request, "predict")
    with checkpoint_given_by("--ckpt", checkpoint):
        trainer.load_checkpoint(checkpoint, strict=True)
    from adapter.predictions import write_predictions

    return write_predictions(trainer, Path(out))


@contextlib.contextmanager
def checkpoint_given_by(option: str, path: str) -> Iterator[None]:
    """A block that takes a checkpoint named on the command line; what is wrong with it is the option's problem."""
    try:
        yield
    except ConfigError:
        raise
    except (FileNotFoundError, ValueError) as error:
        text = str(error)
        raise ConfigError(Problem(option, text if path in text or path == "last" else f"'{path}': {text}")) from error


def explain(request: Request) -> Explanation:
    """What would become of each key of a config file, and the order of the hooks.

    Raises:
        ConfigError: The file cannot be read, or holds a value of the wrong type or range.
    """
    config = load(request.path, request.trust_remote_code)
    import_user_code([*request.imports, *declared_imports(config, request.trust_remote_code)])
    return explain_plan(prepare(config, options=request.overrides), request.strict)


def convert(request: Request, out: str | None = None) -> str:
    """A config file as the text of a LightningCLI file.

    Args:
        request: The config.
        out: Where the text will be, from whose folder the config's is named; None names it from the root.

    Raises:
        ConfigError: The config cannot be run as written, or holds what such a file cannot.
    """
    from adapter.convert import lightning_file

    if out is not None and Path(out).suffix.lower() == ".json":
        raise ConfigError(
            Problem("--out", f"'{out}' is named as JSON", fix="name it .yaml: a LightningCLI file is YAML")
        )
    config = load(request.path, request.trust_remote_code)
    imports = [*request.imports, *declared_imports(config, request.trust_remote_code)]
    import_user_code(imports)
    prepared = prepare(config, options=request.overrides)
    check(prepared, strict=request.strict)

    def placed(path: str | Path) -> str:
        return os.path.relpath(path, Path(out).parent) if out else os.path.abspath(path)

    base_dir = placed(Path(config.filename or request.path).parent)
    code = [placed(name) if name.endswith(".py") else name for name in imports]
    return lightning_file(prepared, request.seed, code, request.trust_remote_code, base_dir)


def build(request: Request, purpose: str = "train") -> EpochBasedTrainer:
    """The trainer a config file describes, ready to train.

    Args:
        request: What the command line asks for.
        purpose: What it is for, if not to train: ``evaluate`` or ``predict``.

    Raises:
        ConfigError: The config cannot be run as written.
    """
    config = load(request.path, request.trust_remote_code)
    import_user_code([*request.imports, *declared_imports(config, request.trust_remote_code)])
    try:
        refuse_untrusted(config, request.trust_remote_code)
    except RuntimeError as error:
        key = next(key for key in UNTRUSTED if config.get(key))
        found = "the config asks to run code from elsewhere"
        problem = Problem(key, found, fix="if you trust it, pass --trust-remote-code", line=config.line_of(key))
        raise ConfigError(problem, config.filename) from error
    check(prepare(config, options=request.overrides), {"work_dir": request.work_dir}, request.strict)
    arguments: dict[str, Any] = {
        "cfg_file": config,
        "cfg_options": dict(request.overrides),
        "work_dir": request.work_dir,
        "trust_remote_code": request.trust_remote_code,
        "trainer_args": dict(request.trainer_args),
    }
    if detect(config) != "run":
        arguments["purpose"] = purpose
    if request.seed is not None:
        arguments["seed"] = request.seed
    from adapter.trainer import build_trainer

    return build_trainer(default_args=arguments)
