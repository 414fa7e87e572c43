"""A run from its config file to its end: the stages in order, one call each.

    load → prepare → check → make_plan → trainer → train

``adapter fit`` and ``EpochBasedTrainer`` both go this way; there is no other.
"""

from __future__ import annotations

import contextlib
import copy
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter import schema
from adapter.config import Config
from adapter.dialects import detect, modelscope
from adapter.dialects.move import Move
from adapter.errors import ConfigError, Problem
from adapter.explain import Explanation, explain_plan
from adapter.fates import fates, unread
from adapter.plan import make_plan

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer

Modify = Callable[[Config], Any]


@dataclass(frozen=True)
class Prepared:
    """A config on its documented keys.

    Attributes:
        original: What the user wrote, with the user's overrides.
        config: The same with the default hooks, the user's changes in code, and old keys moved.
        moves: Each key that was moved or dropped, with the reason.
    """

    original: Config
    config: Config
    moves: tuple[Move, ...] = ()


@dataclass(frozen=True)
class Request:
    """What a command line adds to a config file.

    Attributes:
        path: The config file.
        overrides: Dotted key to value, on top of the file.
        imports: Modules or Python files that register the user's own classes.
        trust_remote_code: Allow what runs code a config names: ``.py`` configs, ``plugins``, ``custom_imports``.
        strict: Refuse keys that nobody reads.
        work_dir: Folder for everything written; None leaves it to the config.
        seed: Of every random number generator.
        trainer_args: Arguments for ``lightning.Trainer``, which win over the plan's.
        resume: Checkpoint to go on from; ``last`` for the newest pair in the work directory.
    """

    path: str
    overrides: Mapping[str, Any] = field(default_factory=dict)
    imports: Sequence[str] = ()
    trust_remote_code: bool = False
    strict: bool = False
    work_dir: str | None = None
    seed: int = 42
    trainer_args: Mapping[str, Any] = field(default_factory=dict)
    resume: str | None = None


def fit(request: Request) -> EpochBasedTrainer:
    """Train what a config file describes.

    Raises:
        ConfigError: The config cannot be run as written; nothing has been written to disk.
        FileNotFoundError: No such checkpoint to go on from.
    """
    trainer = build(request)
    checkpoint = request.resume
    if checkpoint == "last":
        from adapter.checkpoint.files import newest_pair
        from adapter.hooks.checkpoint import CheckpointHook

        folders = [hook.save_dir for hook in trainer.get_hook(CheckpointHook) if isinstance(hook, CheckpointHook)]
        checkpoint = str(newest_pair(Path(next(filter(None, folders), trainer.work_dir))))
    trainer.train(checkpoint)
    return trainer


def validate(request: Request, checkpoint: str | None = None) -> dict[str, Any]:
    """Evaluate what a config file describes, with a checkpoint's weights; returns name to value.

    Raises:
        ConfigError: The config cannot be run as written.
        FileNotFoundError: No such checkpoint.
    """
    return build(request).evaluate(checkpoint_path=checkpoint, strict=True)


def explain(request: Request) -> Explanation:
    """What would become of each key of a config file, and the order of the hooks.

    Raises:
        ConfigError: The file cannot be read, or holds a value of the wrong type or range.
    """
    config = load(request.path, request.trust_remote_code)
    import_user_code([*request.imports, *declared_imports(config, request.trust_remote_code)])
    return explain_plan(prepare(config, options=request.overrides), request.strict)


def build(request: Request) -> EpochBasedTrainer:
    """The trainer a config file describes, ready to train.

    Raises:
        ConfigError: The config cannot be run as written.
    """
    config = load(request.path, request.trust_remote_code)
    import_user_code([*request.imports, *declared_imports(config, request.trust_remote_code)])
    check(prepare(config, options=request.overrides), {"work_dir": request.work_dir}, request.strict)
    from adapter.trainer import build_trainer

    return build_trainer(
        default_args={
            "cfg_file": config,
            "cfg_options": dict(request.overrides),
            "seed": request.seed,
            "work_dir": request.work_dir,
            "trust_remote_code": request.trust_remote_code,
            "trainer_args": dict(request.trainer_args),
        }
    )


def load(source: str | os.PathLike[str] | Mapping[str, Any], trust_remote_code: bool = False) -> Config:
    """Read a config file; a mapping is taken as it is.

    Raises:
        ConfigError: No such file, or one that cannot be read.
    """
    if isinstance(source, Config):
        return copy.deepcopy(source)
    return Config(source) if isinstance(source, Mapping) else Config.from_file(source, trust_remote_code)


def prepare(config: Config, modify: Modify | None = None, options: Mapping[str, Any] | None = None) -> Prepared:
    """Bring a config onto its documented keys.

    In this order, which configs rely on: default hooks are merged in, ``modify`` changes the config (so one that
    replaces ``train.hooks`` drops the defaults), ``options`` are merged, old keys are moved.

    Args:
        config: As the user wrote it; left as it is.
        modify: Changes a config in place or returns another.
        options: Dotted key to value.
    """
    original = copy.deepcopy(config)
    if options:
        original.merge_from_dict(options)
    config = copy.deepcopy(config)
    if detect(config) == "run":
        return Prepared(original, original)
    modelscope.merge_default_hooks(config)
    if modify is not None:
        changed = modify(config)
        if changed is not None:
            config = changed if isinstance(changed, Config) else Config(changed, filename=config.filename)
    if options:
        config.merge_from_dict(options)
    return Prepared(original, config, tuple(modelscope.move_old_keys(config)))


def check(prepared: Prepared, keywords: Mapping[str, Any] | None = None, strict: bool = False) -> None:
    """Refuse a config that cannot be run, with all of its problems at once.

    Args:
        prepared: The config.
        keywords: Constructor keywords, which stand in for keys the config lacks.
        strict: Refuse keys that nobody reads, too.

    Raises:
        ConfigError: There is at least one problem.
    """
    if detect(prepared.config) == "run":
        raise ConfigError(
            Problem(
                "run",
                "a config of the `run:` family can be explained, not trained, by this version",
                fix="`adapter explain` shows what each key means",
            ),
            prepared.original.filename,
        )
    problems = schema.check(prepared.config, keywords, prepared.moves)
    if strict:
        plan = make_plan(prepared.config, keywords)
        problems += unread(fates(prepared.original, prepared.config, prepared.moves, plan))
    if problems:
        raise ConfigError(problems, prepared.original.filename)


@contextlib.contextmanager
def located(prepared: Prepared) -> Iterator[None]:
    """Problems found while building name the file, the key as the user spelled it, and its line."""
    try:
        yield
    except ConfigError as error:
        config = prepared.config
        problems = [schema.where_written(problem, config, prepared.moves) for problem in error.problems]
        raise ConfigError(problems, error.file or prepared.original.filename) from error


def declared_imports(config: Config, trust_remote_code: bool) -> list[str]:
    """The modules a config file itself asks to import.

    Raises:
        ConfigError: It asks, and the trust is not given.
    """
    declared = config.get("custom_imports") or []
    if isinstance(declared, Mapping):
        declared = declared.get("imports") or []
    declared = [declared] if isinstance(declared, str) else list(declared)
    if declared and not trust_remote_code:
        raise ConfigError(
            Problem(
                "custom_imports",
                f"the config asks to run code: {', '.join(map(str, declared))}",
                fix="if you trust it, pass --trust-remote-code (trust_remote_code=True); or leave the key out and "
                "pass --import MODULE yourself",
                line=config.line_of("custom_imports"),
            ),
            config.filename,
        )
    base = Path(config.filename).parent if config.filename else Path()
    return [str(base / name) if name.endswith(".py") else name for name in declared]


def refuse_untrusted(config: Config, trust_remote_code: bool) -> None:
    """Refuse a config that asks to run code of others, unless it is trusted.

    Raises:
        RuntimeError: It declares ``plugins`` or ``allow_remote``.
    """
    declared = [key for key in ("plugins", "allow_remote") if config.get(key)]
    if declared and not trust_remote_code:
        raise RuntimeError(
            f"the config declares {' and '.join(declared)}, which run code from elsewhere; "
            "pass trust_remote_code=True if you trust it"
        )


def import_user_code(names: Sequence[str]) -> None:
    """Import modules or Python files, for what they register.

    Raises:
        ConfigError: One that does not exist or cannot be imported.
    """
    for name in names:
        try:
            if name.endswith(".py"):
                _import_file(Path(name))
            else:
                sys.path.insert(0, os.getcwd())
                try:
                    importlib.import_module(name)
                finally:
                    sys.path.remove(os.getcwd())
        except (ImportError, FileNotFoundError) as error:
            raise ConfigError(
                Problem(
                    "--import",
                    f"cannot import '{name}': {error}",
                    allowed="a Python file, or a module on PYTHONPATH or in this folder",
                )
            ) from error


def _import_file(path: Path) -> None:
    if not path.is_file():
        raise FileNotFoundError(f"no file '{path}'")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"'{path}' is not a Python file")
    if path.stem in sys.modules:
        if getattr(sys.modules[path.stem], "__file__", None) == str(path):
            return
        raise ImportError(f"its name is that of a module already imported ('{path.stem}'); rename the file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[path.stem]
        raise
