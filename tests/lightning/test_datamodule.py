from __future__ import annotations

import pytest
import torch
from torch.utils.data import DataLoader

from adapter.lightning.datamodule import DataModule, DeferredLoader, SharedLoader
from adapter.processes import Processes
from tests.runs import Points, Recorder, make, run


def shuffled():
    return DataLoader(Points(8), batch_size=4, shuffle=True)


def test_draws_from_the_random_stream_with_the_first_batch_only():
    loader = DeferredLoader(shuffled())
    before = torch.get_rng_state()
    iterator = iter(loader)
    assert torch.equal(torch.get_rng_state(), before)
    next(iterator)
    assert not torch.equal(torch.get_rng_state(), before)


def test_same_batches_as_the_loader():
    torch.manual_seed(3)
    deferred = [batch["label"].tolist() for batch in DeferredLoader(shuffled())]
    torch.manual_seed(3)
    assert deferred == [batch["label"].tolist() for batch in shuffled()]


def test_length():
    assert len(DeferredLoader(shuffled())) == 2
    with pytest.raises(TypeError):
        len(DeferredLoader(iter([1, 2])))


@pytest.mark.parametrize(
    ("limit", "shares", "expected"),
    [(None, 2, [[0, 1, 2], [0, 1, 2]]), (3, 2, [[0, 1], [0]]), (1, 2, [[0], []]), (4, 3, [[0, 1], [0], [0]])],
)
@pytest.mark.parametrize("evenly", [False, True])
def test_a_limit_is_one_of_all_processes_together(limit, shares, expected, evenly):
    alone = Processes()  # told nothing of the others, it has no batches in vain
    alone.shares = shares
    for alone.share in range(shares):
        assert list(SharedLoader([0, 1, 2], limit, alone, evenly)) == expected[alone.share]


def test_the_evaluation_loader_is_made_at_the_first_evaluation(tmp_path):
    trainer = make(tmp_path)
    module = DataModule(trainer)
    assert trainer.eval_dataloader is None
    assert module.val_dataloader().loader is trainer.eval_dataloader
    assert module.val_dataloader().loader is trainer.eval_dataloader


def test_hooks_of_before_run_draw_before_the_loader(tmp_path):
    """A plain loop would: seed, hooks, then the iterator of the first epoch."""
    train = {"dataloader": {"batch_size_per_gpu": 4, "workers_per_gpu": 0, "shuffle": True}}
    draw = Recorder("before_run", lambda trainer: torch.rand(()).item())
    order = Recorder("before_train_iter", lambda trainer: trainer.data_batch["label"].tolist())
    run(tmp_path, epochs=1, train=train, callbacks=[draw, order])
    torch.manual_seed(42)
    assert draw.seen == [torch.rand(()).item()]
    loader = DataLoader(Points(12), batch_size=4, shuffle=True)
    assert order.seen == [batch["label"].tolist() for batch in loader]
