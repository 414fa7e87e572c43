from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from adapter import HOOKS, TRAINERS, Config, ConfigError, build_trainer
from adapter.user_code import declared_imports, import_user_code
from tests.small_runs import settings

PLUGIN = """
from adapter import HOOKS, Hook

@HOOKS.register_module(module_name="{name}")
class OfAPlugin(Hook):
    pass
"""


@pytest.mark.parametrize(
    ("config", "trusted", "names"),
    [
        ({}, False, []),
        ({"custom_imports": "a"}, True, ["a"]),
        ({"custom_imports": ["a", "b.py"]}, True, ["a", "b.py"]),
        ({"custom_imports": {"imports": ["a"]}}, True, ["a"]),
        ({"plugins": ["p"]}, False, []),
        ({"plugins": "p", "custom_imports": "a"}, True, ["a", "p"]),
    ],
)
def test_what_a_config_asks_to_import(config, trusted, names):
    assert declared_imports(Config(config), trusted) == names


def test_files_start_from_the_configs_folder():
    assert declared_imports(Config({"custom_imports": "own.py"}, filename="some/where.yaml"), True) == ["some/own.py"]


def test_a_trusted_plugin_is_imported_by_build_trainer(tmp_path, monkeypatch):
    (tmp_path / "plugin_of_a_test.py").write_text(PLUGIN.format(name="of-a-plugin"))
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ConfigError, match="max_epochs"):  # what the config lacks; the plugin comes first
        build_trainer("trainer", {"cfg_file": {"plugins": ["plugin_of_a_test"]}, "trust_remote_code": True})
    assert "of-a-plugin" in HOOKS.names()


TRAINER = """
from adapter import TRAINERS, EpochBasedTrainer

@TRAINERS.register_module(module_name="of-a-model")
class OfAModel(EpochBasedTrainer):
    pass
"""


@pytest.fixture
def model_folder(tmp_path):
    """A model directory whose config asks for its own code, which defines a trainer."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "ms_wrapper.py").write_text(TRAINER)
    (folder / "configuration.json").write_text(json.dumps(settings(allow_remote=True)))
    yield folder
    TRAINERS.modules["default"].pop("of-a-model", None)
    sys.modules.pop("ms_wrapper", None)


@pytest.mark.parametrize("own_config", [True, False])
def test_code_of_a_model_directory_runs_once_it_is_trusted(own_config, model_folder, tmp_path):
    config = (
        {}
        if own_config
        else {"cfg_file": settings(model={"type": "mlp-classifier", "in_features": 8, "num_classes": 4})}
    )
    given = {"model": str(model_folder), "work_dir": str(tmp_path / "work"), "device": "cpu", **config}
    with pytest.raises(RuntimeError, match="declares allow_remote"):
        build_trainer("of-a-model", given)
    assert "of-a-model" not in TRAINERS
    if own_config:
        with pytest.raises(ConfigError, match="unknown model 'tiny'"):
            build_trainer("of-a-model", {**given, "trust_remote_code": True})
    else:
        assert type(build_trainer("of-a-model", {**given, "trust_remote_code": True})).__name__ == "OfAModel"


def test_without_allow_remote_a_models_code_is_left_alone(model_folder):
    (model_folder / "configuration.json").write_text(json.dumps(settings()))
    config = Config.from_file(model_folder / "configuration.json")
    assert declared_imports(config, True) == []


def test_a_file_that_fails_is_not_taken_for_imported(tmp_path):
    path = Path(tmp_path, "failing_code_of_a_test.py")
    path.write_text("raise RuntimeError('not today')")
    for _ in range(2):
        with pytest.raises(ConfigError, match="RuntimeError: not today"):
            import_user_code([str(path)])
    assert path.stem not in sys.modules
