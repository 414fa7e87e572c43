import pickle

import pytest

from adapter.errors import ConfigError
from adapter.metrics.build import build_metrics
from adapter.metrics.prediction_saving_wrapper import PredictionSavingWrapper
from adapter.plan import Component

SEEN = []


def save(inputs, outputs):
    SEEN.append((inputs, outputs))


class Saver:
    def __call__(self, inputs, outputs):
        save(inputs, outputs)


@pytest.mark.parametrize("saving_fn", [save, Saver(), Saver, f"{__name__}.save", f"{__name__}:Saver"])
def test_every_batch_is_handed_over_and_there_is_no_value(saving_fn):
    SEEN.clear()
    metric = build_metrics([Component("prediction-saving-wrapper", {"saving_fn": saving_fn})])[0]
    metric.add({"logits": 1}, {"x": 2})
    assert SEEN == [({"x": 2}, {"logits": 1})]
    assert metric.evaluate() == {}


def test_the_function_stays_in_its_process():
    metric = PredictionSavingWrapper(lambda inputs, outputs: None)
    metric.merge(pickle.loads(pickle.dumps(metric)))
    assert metric.evaluate() == {}


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ({"saving_fn": 3}, "saving_fn must be a function"),
        ({"saving_fn": "no_such_module.save"}, r"metrics\[0\].saving_fn: cannot import"),
        ({}, "needs 'saving_fn'"),
    ],
)
def test_what_is_refused(args, told):
    with pytest.raises(ConfigError, match=told):
        build_metrics([Component("prediction-saving-wrapper", args, key="metrics[0]")])
