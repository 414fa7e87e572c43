"""What a process tells the others of its failure, through a real store; processes that really fail are in
tests/distributed/test_fit.py."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch.distributed as dist

from adapter.failures import KEY, SEEN, Watch, shared_failures
from adapter.processes import Processes

FULL = "process 1 failed: ValueError: the disk is full"
HANGS = f"""
import time
import torch.distributed as dist
from adapter import failures
from adapter.processes import Processes

failures.GRACE = 0.1
store = dist.HashStore()
dist.init_process_group("gloo", store=store, rank=0, world_size=1)
dist.distributed_c10d._get_default_store().set(failures.KEY, {FULL!r})
with failures.shared_failures(Processes(0, 2)):
    time.sleep(60)
"""


@pytest.fixture
def store():
    """The store of a group that this process is alone in, though it is told otherwise; the others have seen all."""
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    store = dist.distributed_c10d._get_default_store()
    store.add(SEEN, 1)
    yield store
    dist.destroy_process_group()


def heard_by(processes: Processes) -> str | None:
    """What a process hears of the others; its watch is over at once, and does not end this one."""
    watch = Watch(processes)
    watch.over.set()
    return watch.told()


def test_a_process_on_its_own_shares_nothing():
    alone = Processes()
    with pytest.raises(ValueError, match="full"), shared_failures(alone):
        raise ValueError("full")
    assert not alone.watched


@pytest.mark.parametrize(
    ("raised", "kind", "said"),
    [
        (RuntimeError("Connection closed by peer"), RuntimeError, FULL),  # what comes of the other's failure
        (KeyError("mine"), KeyError, "mine"),
    ],
)
def test_the_others_learn_the_error(store, raised, kind, said):
    with pytest.raises(ValueError, match="the disk is full"), shared_failures(Processes(1, 2)):
        raise ValueError("the disk is full")
    assert heard_by(Processes(0, 2)) == FULL
    with pytest.raises(kind, match=said), shared_failures(Processes(0, 2)):
        raise raised


def test_nothing_is_told_of_an_end_that_all_have_agreed_to(store):
    both = Processes(0, 2)
    both.ending = True
    with pytest.raises(KeyboardInterrupt), shared_failures(both):
        raise KeyboardInterrupt
    assert not store.check([KEY])


def test_a_block_within_a_block_adds_nothing(store):
    both = Processes(0, 2)
    with shared_failures(both):
        with pytest.raises(ValueError, match="full"), shared_failures(both):
            raise ValueError("full")
        assert both.watched
        assert not store.check([KEY])
    assert not both.watched


def test_a_child_that_has_ended_is_named(store):
    child = subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"])
    child.wait()
    assert heard_by(Processes(0, 2, [child])) == "process 1 ended with status 3"


def test_a_process_that_hangs_ends():
    ended = subprocess.run([sys.executable, "-c", HANGS], capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.strip() == f"{FULL}; process 0 ends with it"
