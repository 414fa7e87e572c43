import pytest
import torch

from adapter.errors import ConfigError
from adapter.models.build import build_model
from adapter.registry import MODELS


class Tiny(torch.nn.Module):
    def __init__(self, width=1):
        super().__init__()
        if width < 1:
            raise ValueError("width must be positive")
        self.layer = torch.nn.Linear(width, 1)


@pytest.mark.parametrize(
    ("cfg", "expected"),
    [
        ({"type": "mlp-classifier", "in_features": 2, "num_classes": 2}, "MLPClassifier"),
        ({"type": "torch.nn.Linear", "in_features": 2, "out_features": 1}, "Linear"),
        ({"type": f"{__name__}.Tiny", "width": 2}, "Tiny"),
    ],
)
def test_builtin_names_and_import_paths(cfg, expected):
    assert type(build_model(cfg)).__name__ == expected


def test_the_users_own_registered_name(monkeypatch):
    monkeypatch.setattr(MODELS, "_modules", {"default": {}})
    MODELS.register_module(module_name="tiny")(Tiny)
    assert build_model({"type": "tiny", "width": 3}).layer.in_features == 3


@pytest.mark.parametrize(
    ("cfg", "key", "told"),
    [
        ({"backbone": "bert"}, "model.type", "no model type"),
        ({"type": "mlp-clasifier"}, "model.type", "Did you mean 'mlp-classifier'?"),
        ({"type": "collections.OrderedDict"}, "model.type", "no model"),
        ({"type": "os.system"}, "model.type", "no model"),
        ({"type": "no.such.Module"}, "model.type", "cannot import"),
        ({"type": "mlp-classifier", "in_features": 2}, "model.num_classes", "needs 'num_classes'"),
        ({"type": f"{__name__}.Tiny", "widht": 2}, "model.widht", "Did you mean 'width'?"),
        ({"type": f"{__name__}.Tiny", "width": 0}, "model", "width must be positive"),
    ],
)
def test_a_wrong_model_is_refused(cfg, key, told):
    with pytest.raises(ConfigError) as caught:
        build_model(cfg)
    assert [problem.key for problem in caught.value.problems] == [key]
    assert told in str(caught.value)
