from __future__ import annotations

import pytest

from adapter.config import Config
from adapter.errors import ConfigError


def error_of(path, **kwargs) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        Config.from_file(path, **kwargs)
    assert caught.value.file == str(path)
    assert [problem.kind for problem in caught.value.problems] == ["file"]
    return caught.value


@pytest.mark.parametrize(
    ("name", "content", "messages"),
    [
        ("empty.json", "", ["the file is empty"]),
        ("blank.json", " \n", ["the file is empty"]),
        ("comment.yaml", "# nothing yet\n", ["the file is empty"]),
        ("list.yaml", "- 1\n", ["the top level is a list", "a mapping of sections"]),
        ("list.json", "[1]", ["the top level is a list"]),
        ("text.yaml", "only text\n", ["the top level is a str"]),
        ("config.txt", "a: 1", ["unknown config format '.txt'", ".json, .yaml, .yml, .py"]),
        ("config.yamll", "a: 1", ["Did you mean '.yaml'?"]),
        ("config", "a: 1", ["no suffix"]),
        ("broken.yaml", "a: 1\nb: {c\nd: 2\n", ["line 3", "flow mapping that begins in line 2", "d: 2"]),
        ("broken.json", '{"a": 1,\n "b" 2}', ["line 2", "Expecting ':' delimiter", '"b" 2}']),
        ("twice.json", '{"a": 1,\n "a": 2}', ["line 2", "lines 1 and 2"]),
        ("long.json", '{"a": ' + "1" * 5000 + "}", ["cannot be read"]),
        ("deep.json", '{"a": ' + "[" * 150 + "]" * 150 + "}", ["levels deep"]),
        ("deeper.json", '{"a": ' + "[" * 9999 + "]" * 9999 + "}", ["cannot be read"]),
        ("config.py", "a = 1", ["--trust-remote-code", "trust_remote_code=True"]),
    ],
)
def test_refused(tmp_path, name, content, messages):
    path = tmp_path / name
    path.write_text(content)
    text = str(error_of(path))
    assert [message for message in messages if message not in text] == []


def test_not_text(tmp_path):
    path = tmp_path / "binary.yaml"
    path.write_bytes(b"a: \xff\xfe")
    assert "UTF-8" in str(error_of(path))


def test_missing_file_names_the_nearest(tmp_path):
    (tmp_path / "quickstart.yaml").touch()
    assert "no such file. Did you mean 'quickstart.yaml'?" in str(error_of(tmp_path / "quikstart.yaml"))


def test_missing_directory(tmp_path):
    assert f"nor a directory '{tmp_path / 'nowhere'}'" in str(error_of(tmp_path / "nowhere" / "a.yaml"))


def test_directory_lists_its_configs(tmp_path):
    assert "no config file in it" in str(error_of(tmp_path))
    for index in range(7):
        (tmp_path / f"{index}.yaml").touch()
    assert "name a file in it: 0.yaml, 1.yaml, 2.yaml, 3.yaml, 4.yaml, ..." in str(error_of(tmp_path))


def test_python_config_when_trusted(tmp_path):
    path = tmp_path / "config.py"
    path.write_text("import os\n_private = 1\ndef f(): pass\ntrain = dict(lr=2 * 0.1)\nhere = __file__\n")
    config = Config.from_file(path, trust_remote_code=True)
    assert config == {"train": {"lr": 0.2}, "here": str(path)}


@pytest.mark.parametrize(
    ("content", "messages"),
    [("a = 1\nb = (\n", ["line 2", "not valid Python"]), ("a = missing", ["NameError", "missing"])],
)
def test_broken_python(tmp_path, content, messages):
    path = tmp_path / "config.py"
    path.write_text(content)
    text = str(error_of(path, trust_remote_code=True))
    assert [message for message in messages if message not in text] == []


@pytest.mark.parametrize(
    ("text", "suffix"),
    [('{"a": 1}', ".json"), ("a: 1", ".yaml"), ("a: 1", ".yml"), ("a: 1", ".YAML"), ("a = 1", ".py")],
)
def test_from_string(text, suffix):
    assert Config.from_string(text, suffix, trust_remote_code=True) == {"a": 1}


def test_from_string_needs_a_known_format():
    with pytest.raises(ConfigError, match="unknown config format 'toml'"):
        Config.from_string("a = 1", "toml")
