import pickle

import pytest
import torch

from adapter.metrics.loss_metric import LossMetric


def metric_of(losses, **args):
    metric = LossMetric(**args)
    for loss in losses:
        metric.add({metric.loss_key: loss}, {})
    return metric


@pytest.mark.parametrize(
    ("losses", "expected"),
    [
        ([torch.tensor(1.5), torch.tensor(2.5)], 2.0),
        ([torch.tensor(0.1), torch.tensor(0.2), torch.tensor(0.7)], 0.3333333432674408),  # recorded: float32
        ([torch.tensor([4.0])], 4.0),
        ([torch.tensor(1.5, dtype=torch.bfloat16)], 1.5),
        ([2.0], 2.0),
    ],
)
def test_the_mean_is_taken_in_the_losses_precision(losses, expected):
    assert metric_of(losses).evaluate() == {"loss": expected}


def test_another_output_can_hold_the_loss():
    assert metric_of([torch.tensor(3.0)], loss_key="nll").evaluate() == {"loss": 3.0}


def test_a_kept_loss_holds_no_graph():
    metric = metric_of([torch.ones(1, requires_grad=True).sum()])
    assert not metric._losses[0].requires_grad


def test_merging_adds_the_other_processs_batches():
    one, two = metric_of([torch.tensor(1.0)]), metric_of([torch.tensor(2.0), torch.tensor(6.0)])
    one.merge(pickle.loads(pickle.dumps(two)))
    assert one.evaluate() == {"loss": 3.0}


def test_what_is_refused():
    with pytest.raises(ValueError, match="one loss a batch"):
        metric_of([torch.zeros(2)])
    with pytest.raises(KeyError, match="none of loss; it has logits"):
        LossMetric().add({"logits": 1}, {})
    with pytest.raises(ValueError, match="no batch was added"):
        LossMetric().evaluate()
