import pytest

from adapter.data.preprocessor import build_preprocessor
from adapter.errors import ConfigError
from adapter.registry import PREPROCESSORS


class Add:
    def __init__(self, amount=1):
        self.amount = amount

    def __call__(self, sample):
        return sample + self.amount


class Double:
    def __call__(self, sample):
        return 2 * sample


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setattr(PREPROCESSORS, "_modules", {"default": {"add": Add, "double": Double}})


@pytest.mark.parametrize(
    ("cfg", "mode", "expected"),
    [
        ({"type": "add", "amount": 5}, "train", 15),
        ([{"type": "add"}, {"type": "double"}], "val", 22),
        ({"train": {"type": "add"}, "val": {"type": "double"}}, "train", 11),
        ({"train": {"type": "add"}, "val": [{"type": "double"}, {"type": "add"}]}, "val", 21),
    ],
)
def test_what_happens_to_a_sample(cfg, mode, expected):
    assert build_preprocessor(cfg, mode)(10) == expected


@pytest.mark.parametrize("cfg", [None, {}, {"train": {"type": "add"}}])
def test_no_preprocessor(cfg):
    assert build_preprocessor(cfg, "val") is None


@pytest.mark.parametrize(
    ("cfg", "key"),
    [
        ({"type": "ad"}, "preprocessor.type"),
        ([{"type": "add"}, {"amount": 2}], "preprocessor[1].type"),
        ({"val": {"type": "add", "amout": 2}}, "preprocessor.val.amout"),
    ],
)
def test_a_wrong_preprocessor_is_refused(cfg, key):
    with pytest.raises(ConfigError) as caught:
        build_preprocessor(cfg, "val")
    assert [problem.key for problem in caught.value.problems] == [key]
