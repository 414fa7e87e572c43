from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from adapter.runner import BaseModel, BaseTask, ClassificationTask, registration
from adapter.runner.registration import RunRegistry
from tests.conftest import ROOT


@pytest.fixture
def registry() -> Iterator[RunRegistry]:
    return RunRegistry()


def test_a_class_is_found_under_its_name(registry):
    @registry.register_model("own")
    class Own(BaseModel):
        pass

    assert registry.get_model_class("own") is Own
    assert registry.mapping["model_name_mapping"] == {"own": Own}
    assert registry.get_model_class("other") is None


def test_built_in_names_need_no_import():
    code = (
        "import sys; from adapter.runner import registry; "
        "print(registry.problem('task', 'classification', 'k'), registry.problem('lr_scheduler', 'constant_lr', 'k'), "
        "'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "None None False\n"
    assert registration.registry.get_task_class("classification") is ClassificationTask


@pytest.mark.parametrize("name", ["taken", "classification"])
def test_a_taken_name_is_a_key_error(registry, name):
    register = registry.register_task(name)
    if name == "taken":
        register(type("First", (BaseTask,), {}))
    with pytest.raises(KeyError, match=f"task '{name}' is registered already, by"):
        register(type("Second", (BaseTask,), {}))


@pytest.mark.parametrize("kind", registration.BASES)
def test_a_class_of_another_base_is_refused(registry, kind):
    with pytest.raises(TypeError, match=f"{kind} 'own' must"):
        getattr(registry, f"register_{kind}")("own")(dict)
    assert getattr(registry, f"get_{kind}_class")("own") is None


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("registry.register_model('x')(dict)", "TypeError: model 'x' must derive from adapter.runner.BaseModel"),
        ("registry.register_task('classification')(type('T', (BaseTask,), {}))", "is registered already"),
    ],
)
def test_a_project_that_registers_wrongly_ends_with_one_sentence(source, said, adapter, tmp_path):
    (tmp_path / "own_project.py").write_text(f"from adapter.runner import BaseTask, registry\n{source}\n")
    done = adapter("explain", str(ROOT / "configs" / "run" / "digits.yaml"), "--import", "own_project.py")
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
