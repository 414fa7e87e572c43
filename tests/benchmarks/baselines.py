"""What simple methods reach on the data of the examples, from the folder that holds what their scripts made."""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge, RidgeCV
from sklearn.pipeline import make_pipeline

TABLES = Path(__file__).parents[2] / "configs" / "data"
SIDES = ("train", "val")
ALPHAS = np.logspace(-2, 3, 20)
Table = list[dict[str, str]]


def tables(folder: Path, name: str) -> tuple[Table, Table]:
    """Both sides of a csv file."""
    rows = []
    for side in SIDES:
        with (folder / f"{name}_{side}.csv").open(newline="", encoding="utf-8") as file:
            rows.append(list(csv.DictReader(file)))
    return rows[0], rows[1]


def column(rows: Table, name: str) -> list[str]:
    """One column."""
    return [row[name] for row in rows]


def numbers(rows: Table, label: str) -> np.ndarray:
    """All columns but the label, (rows, columns)."""
    return np.array([[float(value) for name, value in row.items() if name != label] for row in rows])


def letters(model: Any) -> Any:
    """A linear model of the runs of one to four letters in a text."""
    return make_pipeline(TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 4), sublinear_tf=True), model)


def digits(folder: Path) -> float:
    """Accuracy of logistic regression on the pixels."""
    train, val = tables(TABLES, "digits")
    model = LogisticRegression(max_iter=2000).fit(numbers(train, "label"), column(train, "label"))
    return model.score(numbers(val, "label"), column(val, "label"))


def diabetes(folder: Path) -> float:
    """R2 of ridge regression."""
    train, val = tables(TABLES, "diabetes")
    truth = [np.array(column(rows, "progression"), dtype=float) for rows in (train, val)]
    return RidgeCV(ALPHAS).fit(numbers(train, "progression"), truth[0]).score(numbers(val, "progression"), truth[1])


def sentiment(folder: Path) -> float:
    """Accuracy of logistic regression on letters."""
    train, val = tables(folder / "text", "words")
    model = letters(LogisticRegression(C=10, max_iter=1000)).fit(column(train, "word"), column(train, "sentiment"))
    return model.score(column(val, "word"), column(val, "sentiment"))


def _of_letters(folder: Path) -> tuple[Any, Table]:
    """Ridge regression of valence on letters, and the words held out."""
    train, val = tables(folder / "text", "words")
    return letters(Ridge(0.1, solver="sparse_cg")).fit(
        column(train, "word"), np.array(column(train, "valence"), dtype=float)
    ), val


def valence(folder: Path) -> float:
    """R2 of ridge regression on letters."""
    model, val = _of_letters(folder)
    return model.score(column(val, "word"), np.array(column(val, "valence"), dtype=float))


def pairs(folder: Path) -> float:
    """Accuracy of comparing what ridge regression on letters says of both words."""
    model, val = _of_letters(folder)[0], tables(folder / "text", "pairs")[1]
    one, other = (model.predict(column(val, name)) for name in ("one", "other"))
    return float(np.mean((one > other) == (np.array(column(val, "better")) == "first")))


def parameters(folder: Path) -> float:
    """F1 of a list of the words that are a parameter more often than not."""
    train, val = (
        [json.loads(line) for line in (folder / "text" / f"parameters_{side}.jsonl").open(encoding="utf-8")]
        for side in SIDES
    )
    votes: Counter[str] = Counter()
    for row in train:
        for word, tag in zip(row["tokens"], row["tags"], strict=True):
            votes[word] += 1 if tag != "O" else -1
    found = [(votes[word] > 0, tag != "O") for row in val for word, tag in zip(row["tokens"], row["tags"], strict=True)]
    right = sum(guess and true for guess, true in found)
    return 2 * right / (sum(guess for guess, _ in found) + sum(true for _, true in found))


def docstrings(folder: Path) -> float:
    """Perplexity of the tokens' frequencies, each seen once more than it was."""
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder / "text" / "gpt2")
    train, val = (
        [
            token
            for text in column(rows, "description")
            for token in [*tokenizer(text)["input_ids"], tokenizer.eos_token_id]
        ]
        for rows in tables(folder / "text", "docstrings")
    )
    seen, total = Counter(train), len(train) + len(tokenizer)
    return math.exp(-sum(math.log((seen[token] + 1) / total) for token in val) / len(val))


def mnist(folder: Path) -> float:
    """Accuracy of logistic regression on the pixels."""
    sides = []
    for side in SIDES:
        paths = sorted((folder / "mnist" / side).glob("*/*.png"))
        pixels = np.array([np.asarray(Image.open(path), dtype=float).ravel() / 255 for path in paths])
        sides.append((pixels, [path.parent.name for path in paths]))
    return LogisticRegression(max_iter=500).fit(*sides[0]).score(*sides[1])
