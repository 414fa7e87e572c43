"""TrainingArgs: a config's most used keys as fields, for Python and the command line."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, get_args, get_type_hints

from adapter.config import Config
from adapter.config.overrides import parse_overrides
from adapter.errors import nearest

STRATEGIES = ["by_epoch", "by_step", "no"]
BEST = "train.checkpoint.best"
PERIOD = "train.checkpoint.period"
SCHEDULE = "train.lr_scheduler.type"
TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def key(default: Any, cfg_node: str | Sequence[str] | None, help: str, **more: Any) -> Any:
    """A field of TrainingArgs.

    Args:
        default: Its value when nothing is given.
        cfg_node: The dotted key that it sets, or several; None for one that is read in code only.
        help: What it is, one sentence.
        more: ``choices``: the values it may have. ``cfg_setter``: makes the config's value of the field's; one that
            returns a mapping adds its keys to those of a node that is a mapping.
    """
    return field(default=default, metadata={"help": help, **({"cfg_node": cfg_node} if cfg_node else {}), **more})


def read_parameters(text: str | Iterable[str] | Mapping[str, Any]) -> dict[str, Any]:
    """``momentum=0.9,betas=[0.9, 0.99]``, a list of such pairs, or a mapping, as a mapping; values are YAML.

    Raises:
        ConfigError: A piece that is no ``key=value``.
    """
    if isinstance(text, Mapping):
        return dict(text)
    return parse_overrides(re.split(r",(?![^\[]*\])", text) if isinstance(text, str) else text)


def split_list(value: str | Iterable[str]) -> list[str]:
    """``a,b`` as a list; a list stays one."""
    return [word.strip() for word in value.split(",")] if isinstance(value, str) else list(value)


@dataclass(init=False)
class TrainingArgs:
    """Settings of a run. Fields that are given go into the config; pass the object as ``cfg_modify_fn``.

    A subclass adds fields of its own, whose ``cfg_node`` metadata name the key each one sets.

    Args:
        kwargs: Fields by name.

    Attributes:
        extra: Dotted key to value, of the command line, for keys that have no field.

    Raises:
        TypeError: A name that is no field.
    """

    task: str | None = key(None, "task", "Task name, which selects the default metric.")
    model: str | None = key(None, None, "Local model directory.")
    model_revision: str | None = key(None, None, "Revision of the model.")
    model_type: str | None = key(None, "model.type", "Registered name of the model.")
    preprocessor_type: str | None = key(None, "preprocessor.type", "Registered name of the preprocessor.")
    first_sequence: str | None = key(
        None, ["dataset.train.first_sequence", "dataset.val.first_sequence"], "Column of the text."
    )
    second_sequence: str | None = key(
        None, ["dataset.train.second_sequence", "dataset.val.second_sequence"], "Column of the second text."
    )
    label: str | None = key(None, ["dataset.train.label", "dataset.val.label"], "Column of the label.")
    labels: str | None = key(None, "dataset.train.labels", "Every label, with commas.", cfg_setter=split_list)
    seed: int = key(42, None, "Of every random number generator.")
    per_device_train_batch_size: int = key(
        16, "train.dataloader.batch_size_per_gpu", "Training samples per batch and process."
    )
    train_data_worker: int = key(0, "train.dataloader.workers_per_gpu", "Processes that load training data.")
    train_shuffle: bool = key(False, "train.dataloader.shuffle", "Draw a new order each epoch.")
    train_drop_last: bool = key(False, "train.dataloader.drop_last", "Leave out a last batch that is not full.")
    per_device_eval_batch_size: int = key(
        16, "evaluation.dataloader.batch_size_per_gpu", "Evaluation samples per batch and process."
    )
    eval_data_worker: int = key(0, "evaluation.dataloader.workers_per_gpu", "Processes that load evaluation data.")
    eval_shuffle: bool = key(False, "evaluation.dataloader.shuffle", "Evaluate in a new order each time.")
    eval_drop_last: bool = key(False, "evaluation.dataloader.drop_last", "Leave out a last batch that is not full.")
    max_epochs: int = key(5, "train.max_epochs", "Epochs.")
    work_dir: str = key("./train_target", "train.work_dir", "Folder of logs and checkpoints.")
    lr: float = key(5e-5, "train.optimizer.lr", "Learning rate.")
    lr_scheduler: str = key("LinearLR", SCHEDULE, "Class of the schedule.")
    optimizer: str = key("AdamW", "train.optimizer.type", "Class of the optimizer.")
    optimizer_params: str | None = key(
        None, "train.optimizer", "Its other arguments: key=value,key=value.", cfg_setter=read_parameters
    )
    lr_scheduler_params: str | None = key(
        None, "train.lr_scheduler", "Arguments of the schedule: key=value,key=value.", cfg_setter=read_parameters
    )
    lr_strategy: str = key(
        "by_epoch", "train.lr_scheduler.options.lr_strategy", "When the schedule steps.", choices=STRATEGIES
    )
    local_rank: int = key(0, None, "Number of this process on its machine.")
    logging_interval: int = key(5, "train.logging.interval", "Iterations between log lines.")
    eval_strategy: str = key("by_epoch", "evaluation.period.eval_strategy", "When to evaluate.", choices=STRATEGIES)
    eval_interval: int = key(1, "evaluation.period.interval", "Epochs or iterations between evaluations.")
    eval_metrics: str | None = key(
        None, "evaluation.metrics", "Metrics, with commas between them.", cfg_setter=split_list
    )
    save_strategy: str = key("by_epoch", f"{PERIOD}.save_strategy", "When to save.", choices=STRATEGIES)
    save_interval: int = key(1, f"{PERIOD}.interval", "Epochs or iterations between checkpoints.")
    save_best_checkpoint: bool = key(False, f"{BEST}.save_best", "Keep the checkpoints with the best metric.")
    metric_for_best_model: str | None = key(None, f"{BEST}.metric_key", "The metric that decides.")
    metric_rule_for_best_model: str = key("max", f"{BEST}.rule", "What is best.", choices=["max", "min"])
    max_checkpoint_num: int | None = key(None, f"{PERIOD}.max_checkpoint_num", "Newest checkpoints to keep.")
    max_checkpoint_num_best: int = key(1, f"{BEST}.max_checkpoint_num", "Best checkpoints to keep.")
    push_to_hub: bool = key(False, f"{PERIOD}.push_to_hub", "Upload each checkpoint.")
    repo_id: str | None = key(None, f"{PERIOD}.hub_repo_id", "Repository to upload to.")
    hub_token: str | None = key(None, f"{PERIOD}.hub_token", "Token for the upload.")
    private_hub: bool = key(True, f"{PERIOD}.private_hub", "Make the repository private.")
    hub_revision: str = key("master", f"{PERIOD}.hub_revision", "Branch to upload to.")
    push_to_hub_best: bool = key(False, f"{BEST}.push_to_hub", "Upload each best checkpoint.")
    repo_id_best: str | None = key(None, f"{BEST}.hub_repo_id", "Repository of the best checkpoints.")
    hub_token_best: str | None = key(None, f"{BEST}.hub_token", "Token for that upload.")
    private_hub_best: bool = key(True, f"{BEST}.private_hub", "Make that repository private.")
    hub_revision_best: str = key("master", f"{BEST}.hub_revision", "Branch of that upload.")
    train_dataset_name: str | None = key(None, None, "Training data: name or folder.")
    val_dataset_name: str | None = key(None, None, "Evaluation data: name or folder.")
    train_subset_name: str | None = key(None, None, "Subset of the training data.")
    val_subset_name: str | None = key(None, None, "Subset of the evaluation data.")
    train_split: str | None = key(None, None, "Split to train on.")
    val_split: str | None = key(None, None, "Split to evaluate on.")
    train_dataset_namespace: str = key("modelscope", None, "Owner of the training data.")
    val_dataset_namespace: str = key("modelscope", None, "Owner of the evaluation data.")
    dataset_json_file: str | None = key(None, None, "File for build_dataset_from_file.")
    use_model_config: bool = key(False, None, "Leave to the model's config what is not given here.")

    def __init__(self, **kwargs: Any) -> None:
        names = [item.name for item in fields(self)]
        for name in kwargs:
            if name not in names:
                guess = nearest(name, names)
                hint = f"; did you mean '{guess}'?" if guess else ""
                raise TypeError(f"{type(self).__name__} has no field '{name}'{hint}")
        for item in fields(self):
            setattr(self, item.name, kwargs.get(item.name, _default(item)))
        self._given: set[str] = set(kwargs)
        self.extra: dict[str, Any] = {}

    @property
    def given(self) -> list[str]:
        """Names of the fields that were given, or hold something other than their default."""
        said: set[str] = getattr(self, "_given", set())
        return [item.name for item in fields(self) if item.name in said or getattr(self, item.name) != _default(item)]

    def __call__(self, cfg: Config) -> Config:
        """Put the fields that were given into a config, in place, and return it."""
        self._fill(cfg, self.given)
        return cfg

    def to_config(self, ignore_default_config: bool | None = None) -> tuple[Config, dict[str, Any]]:
        """A config made of the fields, and the values of those that have no key in one.

        Args:
            ignore_default_config: Leave out fields that were not given; ``use_model_config`` by default.
        """
        if ignore_default_config is None:
            ignore_default_config = self.use_model_config
        every = [item.name for item in fields(self) if getattr(self, item.name) is not None]
        config = Config()
        self._fill(config, self.given if ignore_default_config else every)
        return config, {item.name: getattr(self, item.name) for item in fields(self) if not _nodes(item)}

    def parse_cli(self, parser_args: Sequence[str] | None = None) -> TrainingArgs:
        """Take fields from a command line: ``--lr 0.1``, ``--train.optimizer.momentum 0.9`` for any other key.

        Args:
            parser_args: The words; those of this program by default.

        Returns:
            This object. Unknown names end the program with status 2, as argparse does.
        """
        words = [_underscored(word) for word in (sys.argv[1:] if parser_args is None else parser_args)]
        parser = self._parser()
        found, rest = parser.parse_known_args(words)
        for name, value in vars(found).items():
            setattr(self, name, value)
            self._given = {*getattr(self, "_given", ()), name}
        self.extra = {**getattr(self, "extra", {}), **parse_overrides(self._overrides(parser, rest))}
        return self

    def get_metadata(self, name: str) -> Field[Any] | None:
        """The dataclass field of a name; None without one."""
        return next((item for item in fields(self) if item.name == name), None)

    def _fill(self, config: Config, names: Sequence[str]) -> None:
        """Write the named fields, then the extra keys; a best saver is set up only if one is asked for."""
        saves_best = self.save_best_checkpoint or self.metric_for_best_model is not None
        for item in fields(self):
            value, setter = getattr(self, item.name), item.metadata.get("cfg_setter")
            for node in _nodes(item) if item.name in names else ():
                if node == SCHEDULE:
                    _drop_other_schedule(config, value)
                if saves_best or not node.startswith(f"{BEST}."):
                    config.merge_from_dict({node: setter(value) if setter and value is not None else value})
        config.merge_from_dict(getattr(self, "extra", {}))

    def _parser(self) -> argparse.ArgumentParser:
        """A parser with an option a field, which sets nothing for those that are not on the command line."""
        parser = argparse.ArgumentParser(argument_default=argparse.SUPPRESS, allow_abbrev=False)
        hints = get_type_hints(type(self))
        for item in fields(self):
            kind = next((kind for kind in get_args(hints[item.name]) if kind is not type(None)), hints[item.name])
            flag = {"nargs": "?", "const": True, "type": _truth} if kind is bool else {"type": kind}
            parser.add_argument(
                f"--{item.name}", help=item.metadata.get("help"), choices=item.metadata.get("choices"), **flag
            )
        return parser

    def _overrides(self, parser: argparse.ArgumentParser, words: Sequence[str]) -> list[str]:
        """``key=value`` of each ``--key value`` that is no field; one without a dot is a misspelled field."""
        pairs: list[str] = []
        remaining = iter(words)
        for word in remaining:
            name, equals, value = word.removeprefix("--").partition("=")
            if not word.startswith("--") or "." not in name:
                guess = nearest(name, [item.name for item in fields(self)])
                parser.error(f"unknown argument '{word}'" + (f"; did you mean '--{guess}'?" if guess else ""))
            value = value if equals else next(remaining, "")
            pairs.append(f"{name}={value}")
        return pairs


def _default(item: Field[Any]) -> Any:
    return item.default if item.default_factory is MISSING else item.default_factory()


def _nodes(item: Field[Any]) -> list[str]:
    """The dotted keys that a field sets."""
    node = item.metadata.get("cfg_node") or []
    return [node] if isinstance(node, str) else list(node)


def _drop_other_schedule(config: Config, chosen: str) -> None:
    """Leave nothing of a schedule of another class but its options, which say when it steps, whatever it is."""
    found = config.safe_get("train.lr_scheduler")
    if isinstance(found, Mapping) and found.get("type") not in (None, chosen):
        config.train.lr_scheduler = {name: found[name] for name in ("options",) if name in found}


def _underscored(word: str) -> str:
    """``--max-epochs=3`` with the underscores of the field; a dotted key stays as it is."""
    name, equals, value = word.partition("=")
    if not name.startswith("--") or "." in name:
        return word
    return f"--{name[2:].replace('-', '_')}{equals}{value}"


def _truth(text: str) -> bool:
    if text.lower() not in TRUTH:
        raise argparse.ArgumentTypeError(f"found '{text}', allowed: true or false")
    return TRUTH[text.lower()]
