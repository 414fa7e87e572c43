from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapter.config import Config, ConfigDict
from adapter.config.paths import leaves
from adapter.config.writing import to_text
from adapter.errors import ConfigError

CORPUS = sorted(p for p in Path(__file__).parents[1].glob("data/corpus/*/*") if p.suffix in (".json", ".yaml"))
TEXT = "train:\n  max_epochs: 2\n  hooks:\n  - type: Save\n    n: 1\n"


def example() -> Config:
    return Config.from_string(TEXT, ".yaml")


@pytest.mark.parametrize("path", CORPUS, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_real_configs_load_with_every_line_and_survive_writing(path):
    config = Config.from_file(path)
    assert [key for key, _ in leaves(config) if config.line_of(key) is None] == []
    for suffix in (".json", ".yaml"):
        assert Config.from_string(to_text(config, suffix), suffix) == config


def test_the_corpus_is_there():
    assert len(CORPUS) >= 49


def test_a_file_is_remembered(tmp_path):
    path = tmp_path / "run.yaml"
    path.write_text("\ufeff" + TEXT, encoding="utf-8")
    config = Config.from_file(path)
    assert (config.filename, config.text) == (str(path), TEXT)
    assert repr(config).startswith(f"Config (path: {path}): {{'train'")


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("train", 1),
        ("train.max_epochs", 2),
        ("train.hooks[0]", 4),
        ("train.hooks[0].n", 5),
        ("train.lr", None),
    ],
)
def test_line_of(key, line):
    assert example().line_of(key) == line


def test_an_overridden_value_has_no_line():
    config = example()
    config.merge_from_dict({"train.max_epochs": 5, "train.hooks": [{"type": "Save", "m": 1}]})
    assert config.line_of("train.max_epochs") is None
    assert config.line_of("train.hooks[0].n") == 5


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("train.hooks.Save.n", 1),
        ("train.hooks[0].n", 1),
        ("train.hooks.Log.n", "default"),
        ("x.y", "default"),
    ],
)
def test_safe_get(key, expected):
    assert example().safe_get(key, "default") == expected


def test_safe_get_by_another_field():
    config = Config({"rules": [{"name": "a", "v": 1}, {"name": "b", "v": 2}]})
    assert config.safe_get("rules.b.v", type_field="name") == 2


@pytest.mark.parametrize("duplicate", [copy.deepcopy, copy.copy, Config.copy, lambda c: pickle.loads(pickle.dumps(c))])
def test_copies_keep_class_and_lines(duplicate):
    twin = duplicate(example())
    assert (type(twin), twin, twin.line_of("train")) == (Config, example(), 1)
    assert type(twin.train) is ConfigDict


def test_a_config_is_made_from_a_mapping_only():
    assert Config() == {}
    with pytest.raises(TypeError, match="not from list"):
        Config([1])


def test_a_key_may_be_called_as_an_attribute():
    config = Config({"filename": "q", "text": 1})
    assert (config["filename"], config.filename) == ("q", None)


@pytest.mark.parametrize("name", ["out.json", "out.yaml", "out.yml"])
def test_dump_by_suffix(tmp_path, name):
    assert example().dump(tmp_path / name) is None
    assert Config.from_file(tmp_path / name) == example()


def test_dump_without_a_file_is_json_text():
    assert Config.from_string(example().dump(), ".json") == example()


def test_dump_refuses_other_formats(tmp_path):
    with pytest.raises(ConfigError, match=r"\.json, \.yaml"):
        example().dump(tmp_path / "out.py")
    assert list(tmp_path.iterdir()) == []


def test_pretty_text_is_yaml():
    assert example().pretty_text == TEXT


few = settings(max_examples=40, deadline=None)  # the machine may be busy
# YAML has no surrogates and the JSON text none either; every other character must survive
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SCALARS = st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False) | TEXTS
TREES = st.dictionaries(
    TEXTS,
    st.recursive(SCALARS, lambda v: st.lists(v, max_size=3) | st.dictionaries(TEXTS, v, max_size=3), max_leaves=8),
    max_size=4,
)


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
@few
@given(tree=TREES)
def test_round_trip(suffix, tree):
    config = Config(tree)
    again = Config.from_string(to_text(config, suffix), suffix)
    assert again == config == tree
    assert str(again.to_dict()) == str(tree)  # 1 and True and 1.0 are equal, but not the same


def test_loading_imports_no_torch():
    code = "import sys, adapter.config; print(sorted({'torch', 'lightning', 'numpy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
