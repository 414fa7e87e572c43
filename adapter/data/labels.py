"""Labels: the list of classes that data, model and predictions share, each with its number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapter.errors import ConfigError, Problem, nearest

SHOWN = 20  # labels of a list that an error shows


@dataclass(frozen=True)
class Labels:
    """Every label, in the order of their numbers.

    Attributes:
        names: As they stand in the data: text, or numbers.
    """

    names: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.names)

    @property
    def id2label(self) -> dict[int, str]:
        """Number to name."""
        return {number: str(name) for number, name in enumerate(self.names)}

    @property
    def label2id(self) -> dict[str, int]:
        """Name to number."""
        return {str(name): number for number, name in enumerate(self.names)}

    def encode(self, values: Iterable[Any], where: str, key: str = "label", first: int = 0) -> list[int]:
        """The numbers of a column's values.

        Args:
            values: The column.
            where: What the column is, for error messages (``column 'label' of train.csv``).
            key: The key of the config that names it.
            first: Row number of the first value, from 0.

        Raises:
            ConfigError: A value that is not in the list; names its row, from 1, and the list.
        """
        table = self.label2id
        numbers = []
        for row, value in enumerate(values, first + 1):
            number = table.get(str(value))
            if number is None:
                raise ConfigError(self._outside(value, f"row {row} of {where}", key))
            numbers.append(number)
        return numbers

    def _outside(self, value: Any, place: str, key: str) -> Problem:
        shown = [str(name) for name in self.names[:SHOWN]]
        rest = f" and {len(self) - SHOWN} more" if len(self) > SHOWN else ""
        found = f"{place} has the label {value!r}, which is not in the list of labels"
        fix = "list every label under dataset.train.labels, or correct the row"
        return Problem(key, found, ", ".join(shown) + rest, nearest(value, self.label2id), fix)


def declared_labels(config: Mapping[str, Any]) -> Labels | None:
    """The labels that a config lists: ``dataset.train.labels``, else the preprocessor's or the model's.

    Those are ``label2id`` and ``id2label``; the model's ``num_labels`` alone stands for the numbers from 0.
    """
    train, preprocessor = _section(config.get("dataset"), "train"), config.get("preprocessor")
    model = config.get("model")
    if train.get("labels"):
        return Labels(tuple(train["labels"]))
    for table in (
        _get(preprocessor, "label2id"),
        _get(_get(preprocessor, "train"), "label2id"),
        _get(model, "label2id"),
    ):
        if isinstance(table, Mapping) and table:
            return Labels(tuple(sorted(table, key=lambda name: int(table[name]))))
    table = _get(model, "id2label")
    if isinstance(table, Mapping) and table:
        return Labels(tuple(table[number] for number in sorted(table, key=int)))
    count = _get(model, "num_labels")
    return Labels(tuple(range(count))) if isinstance(count, int) and count > 1 else None


def distinct_labels(values: Iterable[Any]) -> Labels:
    """The distinct values of a column, sorted."""
    found: Sequence[Any] = list(dict.fromkeys(value for value in values if value is not None))
    try:
        return Labels(tuple(sorted(found)))
    except TypeError:  # text and numbers mixed
        return Labels(tuple(sorted(found, key=str)))


def split_words(value: Any) -> list[Any]:
    """Words of a list, or of a text with spaces between them."""
    return value.split() if isinstance(value, str) else list(value or [])


def nothing_to_learn() -> ConfigError:
    """What is raised for training texts without labels."""
    found = "not given, and no column is called label or labels: there is nothing to learn"
    return ConfigError(Problem("dataset.train.label", found, kind="missing", fix="name the column of the labels"))


def _section(above: Any, name: str) -> Mapping[str, Any]:
    """A mapping below another; of a list of them, the first."""
    value = _get(above, name)
    value = value[0] if isinstance(value, (list, tuple)) and value else value
    return value if isinstance(value, Mapping) else {}


def _get(above: Any, name: str) -> Any:
    return above.get(name) if isinstance(above, Mapping) else None
