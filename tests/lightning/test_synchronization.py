"""Between two log lines nothing reads a value back from the device."""

from __future__ import annotations

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from adapter.hooks.hook import Hook
from tests.runs import make


class Reads(TorchDispatchMode):
    """Counts the reads of single values (``item()``, ``float(tensor)``, ``tensor.tolist()`` of a scalar)."""

    count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.count += function is torch.ops.aten._local_scalar_dense.default
        return function(*args, **(kwargs or {}))


class PerIteration(Hook):
    """Notes the reads so far at the end of each iteration."""

    PRIORITY = "LOWEST"

    def __init__(self, reads: Reads) -> None:
        self.reads, self.seen = reads, [0]

    def after_train_iter(self, trainer):
        self.seen.append(self.reads.count)


def test_values_are_read_at_log_lines_only(tmp_path):
    hooks = [{"type": "TextLoggerHook", "interval": 5}, {"type": "IterTimerHook"}, {"type": "CheckpointHook"}]
    reads = Reads()
    noted = PerIteration(reads)
    # SGD keeps no counters; the loader draws its seed, on the CPU, before the first iteration
    optimizer = {"type": "SGD", "lr": 0.1, "momentum": 0.9, "options": {"cumulative_iters": 2}}
    trainer = make(tmp_path, hooks, epochs=1, samples=40, train={"optimizer": optimizer}, callbacks=[noted])
    with reads:
        trainer.train()
    per_iteration = [after - before for before, after in zip(noted.seen, noted.seen[1:], strict=False)]
    assert [number for number, count in enumerate(per_iteration, start=1) if count and number > 1] == [5, 10]
