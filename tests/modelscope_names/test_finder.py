"""What is served in ModelScope's place: every name of the table, and a refusal that helps for any other."""

from __future__ import annotations

import importlib.machinery
import json
import subprocess
import sys

import pytest

from adapter.modelscope_names.finder import NAMES, ServedFinder
from adapter.modelscope_names.table import HOMES, MODULES
from adapter.served_modules import UnknownImportError
from tests.modelscope_names.test_scripts import python

served = pytest.mark.skipif(
    importlib.machinery.PathFinder.find_spec("modelscope") is not None, reason="ModelScope itself is installed here"
)


@served
def test_every_name_of_the_table_resolves() -> None:
    code = (
        "import adapter.drop_in, importlib, json; from adapter.modelscope_names.table import MODULES;"
        "print(json.dumps({m: [type(getattr(importlib.import_module(m), n)).__name__ for n in names.split()]"
        " for m, names in MODULES.items()}))"
    )
    done = python("-c", code)
    assert done.returncode == 0, done.stderr
    assert {module: len(kinds) for module, kinds in json.loads(done.stdout).items()} == {
        module: len(names.split()) for module, names in MODULES.items()
    }


def test_every_home_is_used_and_every_name_has_one() -> None:
    assert {name for names in MODULES.values() for name in names.split()} == set(HOMES)


@pytest.mark.parametrize(
    ("module", "name", "said"),
    [
        ("modelscope.trainers", "build_trainr", "did you mean 'build_trainer'?"),
        ("modelscope.trainers", "Config", "import Config from modelscope.utils.config"),
        ("modelscope", "pipelines", "modelscope offers: EpochBasedTrainer, Hook,"),
        ("modelscope.trainers.hooks", "checkpoints", "did you mean 'checkpoint'?"),
    ],
)
def test_a_refusal_says_what_is_meant_perhaps(module: str, name: str, said: str) -> None:
    text = NAMES.refusal(module, name)
    assert f"'{module}.{name}' is not among ModelScope's names" in text
    assert said in text


def test_only_what_is_below_a_root_is_found() -> None:
    finder = ServedFinder(["modelscope.trainers"])
    assert finder.find_spec("modelscope.models") is None
    assert finder.find_spec("modelscope.trainersother") is None
    assert finder.find_spec("modelscope.trainers.hooks").name == "modelscope.trainers.hooks"
    with pytest.raises(UnknownImportError, match=r"modelscope\.trainers offers: "):
        finder.find_spec("modelscope.trainers.cv")


@served
def test_nothing_is_served_unless_asked_for() -> None:
    code = "import adapter.trainer\ntry:\n    import modelscope\nexcept ModuleNotFoundError:\n    print('none')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "none\n"
