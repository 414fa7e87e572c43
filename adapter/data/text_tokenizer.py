"""TextTokenizer: what the preprocessors of text have in common."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from torch import Tensor

from adapter.data.formats import silence
from adapter.data.labels import Labels
from adapter.errors import REFUSALS, ConfigError, Problem, nearest, reason_of
from adapter.models.directory import find_model

Columns = dict[str, list[Any]]
FIRST, SECOND, LABEL = "first_sequence", "second_sequence", "label"  # the parts of a sample, and usual names of them
PADDINGS = ("longest", "max_length")
USUAL = {FIRST: (FIRST, "text", "sentence", "tokens", "prompt"), SECOND: (SECOND,), LABEL: (LABEL, "labels")}


class TextTokenizer:
    """Turns texts into the numbers that a model of transformers takes.

    Rows of files are tokenized once, all of them, when the data are built, and kept in the cache of the datasets
    library for the next run; samples of other data sets as they are asked for.

    Args:
        tokenizer_name: Directory of the tokenizer, or its name on the hub of transformers; the model's by default.
        model_dir: Directory or name of the model.
        base_dir: Folder that a relative ``tokenizer_name`` starts from.
        first_sequence: Column of the text; ``first_sequence``, ``text`` or ``sentence`` by default.
        second_sequence: Column of a second text; none by default.
        label: Column of the label; samples without it have none.
        label2id: Number of each label that is not a number yet.
        max_length: Tokens of a sample at most, special ones included; what is beyond is cut off.
        max_sequence_length: Older name of ``max_length``, which wins.
        padding: ``longest`` (or true) fills up to the longest sample of the batch, ``max_length`` to ``max_length``.
        max_new_tokens: Tokens that an evaluation of generated text writes at most.
        positions: Tokens that the model can hold, where that is known.
        mode: ``train`` or ``val``.
        unlabeled: Whether what is to be learned may be absent.

    Raises:
        ConfigError: No such tokenizer, a length that is no number of 1 or more, or an unknown padding.
    """

    TRUTH = LABEL  # the part that is learned
    VERSION = 2  # a new one leaves older tokens in the cache unused

    def __init__(
        self,
        tokenizer_name: str | None = None,
        model_dir: str | None = None,
        base_dir: str | Path | None = None,
        first_sequence: str | None = None,
        second_sequence: str | None = None,
        label: str | None = None,
        label2id: Mapping[str, int] | None = None,
        max_length: int | None = None,
        max_sequence_length: int | None = None,
        padding: str | bool = "longest",
        max_new_tokens: int = 64,
        positions: int | None = None,
        mode: str = "train",
        unlabeled: bool = False,
    ) -> None:
        name = tokenizer_name or model_dir
        if not name:
            fix = "give tokenizer_name, or a model with a directory"
            raise ConfigError(Problem("preprocessor.tokenizer_name", "not given", kind="missing", fix=fix))
        given = {"max_length": max_length, "max_sequence_length": max_sequence_length}
        given = {name: value for name, value in given.items() if value is not None}
        _refuse_lengths({**given, "max_new_tokens": max_new_tokens})
        self.named = {FIRST: first_sequence, SECOND: second_sequence, LABEL: label}
        self.label2id = label2id
        self.mode = mode
        self.unlabeled = unlabeled
        self.max_new_tokens = max_new_tokens
        self.padding: str = padding if isinstance(padding, str) else "longest"
        if self.padding not in PADDINGS:
            close = nearest(padding, PADDINGS)
            raise ConfigError(Problem("preprocessor.padding", f"found {padding!r}", ", ".join(PADDINGS), close))
        self.tokenizer = load_tokenizer(name, base_dir)
        if self.tokenizer.pad_token is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token
        self.positions = positions
        self.room: int = min(self.tokenizer.model_max_length, positions or sys.maxsize)
        self.max_length = max_length or max_sequence_length or min(128, self.room)

    def __call__(self, sample: Mapping[str, Any]) -> dict[str, Any]:
        """The numbers of one sample.

        Raises:
            ConfigError: It lacks a column, has a label that is not in the list, or is longer than the model can hold.
        """
        places = self.places(list(sample))
        encoded = self._fitting({part: [sample[name]] for part, name in places.items()})
        return {name: values[0] for name, values in encoded.items()}

    def prepare(self, dataset: Any) -> Any:
        """The numbers of all rows of a file data set, as a ``datasets.Dataset``.

        Raises:
            ConfigError: A column is missing, a label is not in the list, or a text is longer than the model can hold.
        """
        import datasets
        from datasets.fingerprint import Hasher

        places = self.places(dataset.names)
        rows = dataset.table(list(places.values()))
        made_by = Hasher.hash([rows._fingerprint, type(self).__name__, self._settings(), places])

        def encode(batch: Mapping[str, list[Any]]) -> Columns:
            return self._fitting({part: batch[name] for part, name in places.items()})

        keep = {"batched": True, "remove_columns": rows.column_names, "new_fingerprint": made_by, "desc": "Tokenizing"}
        if sys.stderr.isatty():
            return rows.map(encode, **keep)
        with silence(datasets):
            return rows.map(encode, **keep)

    def places(self, names: Sequence[str]) -> dict[str, str]:
        """Part of a sample to the column that holds it.

        Raises:
            ConfigError: A column that is named, or any for the text, is missing.
        """
        found = {}
        for part, named in self.named.items():
            column = next((name for name in (named, *USUAL[part]) if name is not None and name in names), None)
            if column is not None and (named is not None or part != SECOND):
                found[part] = column
            elif self.unlabeled and part == self.TRUTH:
                continue
            elif part == FIRST or (named is not None and part == SECOND):
                raise ConfigError(_absent(part, named, names))
        return found

    def encode(self, columns: Columns) -> Columns:
        """What the model takes, from the parts of several samples; a subclass says how."""
        raise NotImplementedError

    def _fitting(self, columns: Columns) -> Columns:
        """The parts encoded, unless the model has no room for them."""
        encoded = self.encode(columns)
        longest = max(map(len, encoded["input_ids"]), default=0)
        longest = self.max_length if self.padding == "max_length" else longest
        if self.positions is not None and longest > self.positions:
            found = f"a text of {longest} tokens is longer than the {self.positions} that the model can hold"
            fix = f"set it to {self.positions} or less; what is beyond is cut off"
            raise ConfigError(Problem("preprocessor.max_length", found, fix=fix))
        return encoded

    def collate(self, samples: Sequence[Mapping[str, Any]]) -> dict[str, Tensor]:
        """A batch of samples, filled up to one length."""
        longest = {"padding": "max_length", "max_length": self.max_length} if self.padding == "max_length" else {}
        return dict(self._collator(**longest)(list(samples)))

    def save_pretrained(self, folder: str | Path) -> None:
        """Write the tokenizer's files."""
        self.tokenizer.save_pretrained(str(folder))

    def label_number(self, value: Any) -> Any:
        """The number of a label: by the list, if there is one and it is not a number of it already."""
        if isinstance(value, Tensor):
            return value.item()
        if any(isinstance(each, str) for each in value) if isinstance(value, list) else _is_word(value, self.label2id):
            found = f"found {value!r}, which is no number, and there is no list of labels"
            fix = "name another column; a label for each word needs preprocessor.type token-cls-tokenizer"
            raise ConfigError(Problem(f"dataset.{self.mode}.label", found, fix=fix))
        if self.label2id is None or not isinstance(value, str):
            return value
        return Labels(tuple(self.label2id)).encode([value], "the data")[0]

    def _collator(self, **longest: Any) -> Any:
        from transformers import DataCollatorWithPadding

        return DataCollatorWithPadding(self.tokenizer, **longest)

    def _settings(self) -> list[Any]:
        """Everything that the numbers of a text depend on."""
        return [self.VERSION, self._tokenizer_text, self.max_length, self.positions, self.label2id, self.mode]

    @cached_property
    def _tokenizer_text(self) -> str:
        backend = getattr(self.tokenizer, "backend_tokenizer", None)
        return f"{self.tokenizer!r}{backend.to_str() if backend is not None else self.tokenizer.get_vocab()}"


def load_tokenizer(name: str, base_dir: str | Path | None = None) -> Any:
    """A tokenizer of transformers.

    Raises:
        ConfigError: There is none of that name, or its directory holds none.
    """
    import transformers

    try:
        place = find_model(name, base_dir)
    except ConfigError as error:
        (problem,) = error.problems
        raise ConfigError(
            Problem("preprocessor.tokenizer_name", problem.found, "", problem.nearest, problem.fix)
        ) from None
    try:
        return transformers.AutoTokenizer.from_pretrained(place)
    except (OSError, *REFUSALS) as error:
        found = f"'{name}' holds no tokenizer that transformers can load: {reason_of(error)[:200]}"
        fix = "name a folder with tokenizer.json or vocab.txt"
        raise ConfigError(Problem("preprocessor.tokenizer_name", found, fix=fix, kind="file")) from error


def _refuse_lengths(lengths: Mapping[str, Any]) -> None:
    """Refuse lengths that are no numbers of tokens."""
    wrong = {name: value for name, value in lengths.items() if not _is_count(value)}
    if wrong:
        allowed = "an integer of 1 or more"
        raise ConfigError([Problem(f"preprocessor.{name}", f"found {wrong[name]!r}", allowed) for name in wrong])


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_word(value: Any, label2id: Mapping[str, int] | None) -> bool:
    """Whether a label is text that nothing numbers."""
    return isinstance(value, str) and label2id is None


def _absent(part: str, named: str | None, names: Sequence[str]) -> Problem:
    found = f"samples have no column '{named}'" if named else f"none of {', '.join(USUAL[part])} is a column"
    fix = f"name the column: {part} in the preprocessor or in dataset.train"
    return Problem(f"preprocessor.{part}", found, ", ".join(names), nearest(named or part, names), fix)
