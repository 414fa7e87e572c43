"""What every built-in plug-in must have: a docstring, a file and a test file named after it, documented arguments."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from adapter import registry
from adapter.registry import Registry, declared_names

ROOT = Path(__file__).parents[1]
REGISTRIES = [each for each in vars(registry).values() if isinstance(each, Registry) and each.package.count(".") == 1]
BUILTIN = [
    pytest.param(each, name, module, id=name)
    for each in REGISTRIES
    for name, module in declared_names(each.package).get(each.variable, {}).items()
]


def test_the_folders_are_walked():
    folders = {each.package.removeprefix("adapter.") for each in REGISTRIES}
    assert folders == {"hooks", "metrics", "schedules", "optim", "models", "data"}
    assert len(BUILTIN) > 20


@pytest.mark.parametrize(("registry", "name", "module"), BUILTIN)
def test_is_found_by_name(registry, name, module):
    cls = registry.resolve(name)
    assert cls.__module__ == module
    assert registry.problem(name, "type") is None


@pytest.mark.parametrize(("registry", "name", "module"), BUILTIN)
def test_has_a_docstring(registry, name, module):
    cls = registry.resolve(name)
    text = (vars(cls).get("__doc__") if inspect.isclass(cls) else cls.__doc__) or ""
    assert text.split("\n")[0].rstrip().endswith((".", ":"))


@pytest.mark.parametrize(("registry", "name", "module"), BUILTIN)
def test_its_file_is_named_after_it(registry, name, module):
    """A file may hold a family (ConstantWarmup and LinearWarmup in warmup.py), whose base or members have its name.

    One of functions has it in its own docstring.
    """
    cls = registry.resolve(name)
    if inspect.isclass(cls):
        names = " ".join(base.__name__.lower() for base in cls.__mro__ if base.__module__ == module)
    else:
        names = sys.modules[module].__doc__.split("\n")[0]
    assert [word for word in module.rpartition(".")[2].split("_") if word.removesuffix("s") not in names] == []


@pytest.mark.parametrize("module", sorted({each.values[2] for each in BUILTIN}))
def test_its_file_has_a_test_file(module):
    _, folder, stem = module.split(".")
    tests = ROOT / "tests" / folder / f"test_{stem}.py"
    assert tests.is_file()
    assert re.search(r"^def test_", tests.read_text(), re.MULTILINE)


def documented_arguments(cls: type) -> list[str]:
    """Names under ``Args:`` in a docstring."""
    section = re.search(r"^Args:\n(.*?)(?:\n\n|\n\S|\Z)", inspect.cleandoc(cls.__doc__ or ""), re.DOTALL | re.MULTILINE)
    return re.findall(r"^ {4}(\w+):", section.group(1), re.MULTILINE) if section else []


@pytest.mark.parametrize(("registry", "name", "module"), BUILTIN)
def test_its_documented_arguments_are_those_it_takes(registry, name, module):
    cls = registry.resolve(name)
    if not inspect.isclass(cls):
        assert documented_arguments(cls) == list(inspect.signature(cls).parameters)
        return
    (home,) = [base for base in cls.__mro__ if "__init__" in vars(base)][:1]  # whose constructor it has
    taken = [] if home is object else [p for p in inspect.signature(home).parameters if p != "self"]
    assert documented_arguments(home) == taken if home is not object else documented_arguments(cls) == []


@pytest.mark.parametrize(("registry", "name", "module"), BUILTIN)
def test_its_arguments_are_annotated(registry, name, module):
    parameters = inspect.signature(registry.resolve(name)).parameters.values()
    assert [parameter.name for parameter in parameters if parameter.annotation is parameter.empty] == []


NAMES_ONLY = """
import sys
from adapter import registry

for each in vars(registry).values():
    if isinstance(each, registry.Registry):
        for name in each.names():
            assert each.problem(name, "type") is None
        assert each.problem("no such name", "type")
for name in registry.declared_names("adapter.hooks")["HOOKS"]:
    registry.HOOKS.resolve(name)
print(sorted({"torch", "lightning", "numpy", "torchmetrics", "datasets"} & set(sys.modules)))
"""


def test_names_and_hook_classes_need_no_torch():
    done = subprocess.run([sys.executable, "-c", NAMES_ONLY], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")
