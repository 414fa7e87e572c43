from __future__ import annotations

import importlib
import subprocess
import sys

import pytest
import torch

from adapter.errors import ConfigError
from adapter.registry import (
    HOOKS,
    LR_SCHEDULER,
    METRICS,
    OPTIMIZERS,
    Registry,
    build_from_cfg,
    check_arguments,
    import_path,
    public_names,
)

PLUGIN = """
from adapter.registry import Registry

RED = Registry("color", "RED", "{package}")
BLUE = Registry("mood", "BLUE", "{package}")


@RED.register_module()
class Crimson: ...


@RED.register_module(module_name="cherry-red", force=False)
class Cherry: ...


@RED.register_module("group", module_name="ruby")
class Ruby: ...


@BLUE.register_module(module_name="sad")
def sadness(): ...
"""


@pytest.fixture
def palette(tmp_path, monkeypatch, request):
    """A package with two registries that share it, not yet imported: its name."""
    name = f"palette_{abs(hash(request.node.nodeid))}"
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").touch()
    (tmp_path / name / "colors.py").write_text(PLUGIN.format(package=name))
    monkeypatch.syspath_prepend(tmp_path)
    return name


def registry_of(package: str) -> Registry:
    return importlib.import_module(f"{package}.colors").RED


def colors() -> Registry:
    registry = Registry("color")

    @registry.register_module(module_name="teal")
    class Teal:
        def __init__(self, depth: int, *, shade: float = 0.5) -> None:
            self.depth, self.shade = depth, shade

    return registry


def test_names_are_read_from_source_without_importing(palette):
    assert Registry("color", "RED", palette).names() == ["Crimson", "cherry-red", "ruby"]
    assert Registry("mood", "BLUE", palette).names() == ["sad"]
    assert f"{palette}.colors" not in sys.modules


def test_a_module_is_imported_when_its_name_is_asked_for(palette):
    registry = registry_of(palette)
    assert registry.get("cherry-red").__name__ == "Cherry"
    assert registry.get("ruby").__name__ == "Ruby"
    assert registry.get("sad") is None
    assert set(registry.modules["group"]) == {"ruby"}


def test_built_in_names_are_taken(palette):
    mine = type("Crimson", (), {})
    with pytest.raises(KeyError, match=r"registered already, by .*colors"):
        Registry("color", "RED", palette).register_module(module_name="Crimson", module_cls=mine)


def test_a_forced_entry_stays_when_the_built_in_module_is_imported(palette):
    registry, mine = registry_of(palette), type("Crimson", (), {})
    registry.register_module(module_name="Crimson", module_cls=mine, force=True)
    registry.register_module()(type("Crimson", (), {"__module__": f"{palette}.colors"}))
    assert registry.get("Crimson") is mine


def test_registering_twice():
    registry = colors()
    again = type(registry.get("teal").__name__, (), {})
    with pytest.raises(KeyError, match="color 'teal' is registered already"):
        registry.register_module(module_name="teal", module_cls=again)
    registry.register_module(module_name="teal", module_cls=again, force=True)
    assert registry.get("teal") is again


def test_the_same_definition_may_be_run_again():
    registry = Registry("color")
    for _ in range(2):
        latest = registry.register_module(type("Cell", (), {"__module__": "notebook"}))
    assert registry.get("Cell") is latest


def test_groups_come_before_the_default():
    registry = colors()
    special = registry.register_module("task", module_name="teal")(type("Special", (), {}))
    assert registry.get("teal", "task") is special
    assert registry.get("teal").__name__ == "Teal"
    assert registry.names() == ["teal"]


def test_contains_and_repr():
    registry = colors()
    assert "teal" in registry
    assert ["teal"] not in registry
    assert repr(registry) == "Registry(color: teal)"


@pytest.mark.parametrize(
    ("registry", "name", "nearest"),
    [
        (HOOKS, "EvaluateHook", "EvaluationHook"),
        (HOOKS, "checkpointhook", "CheckpointHook"),
        (OPTIMIZERS, "AdmaW", "AdamW"),
        (LR_SCHEDULER, "CosineAnealingLR", "CosineAnnealingLR"),
        (METRICS, "Acuracy", "Accuracy"),
        (OPTIMIZERS, None, ""),
        (OPTIMIZERS, ["SGD"], "SGD"),
    ],
)
def test_unknown_names(registry, name, nearest):
    problem = registry.problem(name, "train.x.type")
    assert (problem.nearest, problem.kind, problem.key) == (nearest, "name", "train.x.type")
    assert "adapter list" in problem.fix
    with pytest.raises(ConfigError, match=f"unknown {registry.name}"):
        registry.resolve(name, "train.x.type")


@pytest.mark.parametrize(
    ("registry", "name", "expected"),
    [
        (OPTIMIZERS, "SGD", torch.optim.SGD),
        (OPTIMIZERS, "torch.optim.AdamW", torch.optim.AdamW),
        (OPTIMIZERS, "torch.optim:AdamW", torch.optim.AdamW),
        (LR_SCHEDULER, "StepLR", torch.optim.lr_scheduler.StepLR),
        (LR_SCHEDULER, "torch.optim.lr_scheduler.LambdaLR", torch.optim.lr_scheduler.LambdaLR),
    ],
)
def test_resolve(registry, name, expected):
    assert registry.problem(name, "k") is None
    assert registry.resolve(name) is expected


@pytest.mark.parametrize(
    ("registry", "name", "message"),
    [
        (
            OPTIMIZERS,
            "torch.nn.Linear",
            r"is no optimizer; allowed: a subclass of torch\.optim\.optimizer\.Optimizer",
        ),
        (OPTIMIZERS, "torch.nn.functional.relu", "is no optimizer"),
        (LR_SCHEDULER, "math.pi", "allowed: a class or function"),
        (OPTIMIZERS, "torch.optim.Nothing", "cannot import"),
        (OPTIMIZERS, "no_such_package.Thing", "cannot import 'no_such_package.Thing'"),
    ],
)
def test_import_paths_of_another_kind_or_none(registry, name, message):
    with pytest.raises(ConfigError, match=message):
        registry.resolve(name, "k")


def test_import_path():
    assert import_path("collections.abc:Mapping").__name__ == "Mapping"
    with pytest.raises(ConfigError, match="cannot import"):
        import_path("nodots")


def test_build_fills_in_defaults():
    built = colors().build({"type": "teal", "depth": 2}, shade=0.1, depth=9)
    assert (built.depth, built.shade) == (2, 0.1)


@pytest.mark.parametrize(
    ("cfg", "keys"),
    [
        ({"depth": 1}, ["c.type"]),
        ({"type": "teal"}, ["c.depth"]),
        ({"type": "teal", "shde": 1}, ["c.shde", "c.depth"]),
        ({"type": "tael", "depth": 1}, ["c.type"]),
    ],
)
def test_build_refuses(cfg, keys):
    with pytest.raises(ConfigError) as caught:
        colors().build(cfg, "c")
    assert [problem.key for problem in caught.value.problems] == keys


def test_a_misspelt_argument_names_the_nearest():
    with pytest.raises(ConfigError, match=r"takes no argument 'momentun'.*Did you mean 'momentum'"):
        check_arguments(torch.optim.SGD, {"params": [], "momentun": 0.9})


@pytest.mark.parametrize("callable_", [dict, lambda **anything: anything])
def test_arguments_that_cannot_be_known_are_let_through(callable_):
    check_arguments(callable_, {"whatever": 1})


def test_build_from_cfg():
    registry = colors()
    assert build_from_cfg({"type": "teal"}, registry, default_args={"depth": 3}).depth == 3
    assert build_from_cfg({"type": registry.get("teal"), "depth": 4}, registry).depth == 4
    with pytest.raises(TypeError, match="needs a 'type'"):
        build_from_cfg({"depth": 1}, registry)
    with pytest.raises(ConfigError, match="Did you mean 'teal'"):
        build_from_cfg({"type": "tael"}, registry)


@pytest.mark.parametrize("module", ["no_such_library", "no_such_library.sub", "torch.no_such_module"])
def test_public_names_of_what_is_not_installed(module):
    assert public_names(module) == ()


def test_every_public_optimizer_and_scheduler_can_be_named():
    for registry, module in [(OPTIMIZERS, torch.optim), (LR_SCHEDULER, torch.optim.lr_scheduler)]:
        classes = {name for name in module.__all__ if name[0].isupper()} - {"Optimizer", "LRScheduler"}
        assert classes <= set(registry.names())


def test_names_and_problems_import_no_torch():
    code = (
        "import sys; from adapter.registry import *; "
        "HOOKS.names(), METRICS.names(), OPTIMIZERS.problem('SDG', 'k'), LR_SCHEDULER.names(); "
        "print(sorted({'torch', 'lightning', 'torchmetrics'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("registry", "base"),
    [(OPTIMIZERS, "Optimizer"), (LR_SCHEDULER, "LRScheduler"), (METRICS, "Metric"), (METRICS, "MetricCollection")],
)
def test_a_library_s_base_class_is_nothing_to_be_named(registry, base):
    assert base not in registry.names()
    assert registry.problem(base, "type").found == f"unknown {registry.name} '{base}'"


@pytest.mark.parametrize(
    ("args", "keys"),
    [
        ({"size": 1}, []),
        ({}, ["k.size"]),
        ({"size": 1, "model": 2}, ["k.model"]),
        ({"model": 2, "depth": 3}, ["k.model", "k.depth", "k.size"]),
    ],
)
def test_what_is_passed_in_code_is_not_for_the_config_to_give(args, keys):
    def make(model, size):
        pass

    found = []
    try:
        check_arguments(make, args, "k", passed=("model",))
    except ConfigError as error:
        found = [problem.key for problem in error.problems]
    assert found == keys


def test_not_even_where_any_argument_is_taken():
    def make(model, **anything):
        pass

    check_arguments(make, {"size": 1}, "k", passed=("model",))
    with pytest.raises(ConfigError, match=r"k\.model: make takes no argument 'model'"):
        check_arguments(make, {"model": 1}, "k", passed=("model",))


def test_public_names_of_a_package_without_dunder_all(tmp_path, monkeypatch):
    """Those of its relative imports: what it takes from elsewhere is not its own."""
    package = tmp_path / "package_of_names"
    package.mkdir()
    (package / "__init__.py").write_text("from pathlib import Path\nfrom .colors import Red, Blue as Navy, mix\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert public_names("package_of_names") == ("Red", "Navy")
