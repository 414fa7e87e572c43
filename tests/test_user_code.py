from __future__ import annotations

import sys
from pathlib import Path

import pytest

from adapter import HOOKS, Config, ConfigError, build_trainer
from adapter.user_code import declared_imports, import_user_code

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


def test_a_file_that_fails_is_not_taken_for_imported(tmp_path):
    path = Path(tmp_path, "failing_code_of_a_test.py")
    path.write_text("raise RuntimeError('not today')")
    for _ in range(2):
        with pytest.raises(ConfigError, match="RuntimeError: not today"):
            import_user_code([str(path)])
    assert path.stem not in sys.modules
