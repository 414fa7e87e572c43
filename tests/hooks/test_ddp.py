from __future__ import annotations

import pytest

from adapter.errors import ConfigError
from adapter.hooks.build import build_hook
from adapter.hooks.hook_list import HookList


@pytest.mark.parametrize("launcher", ["pytorch", "mpi", "slurm"])
def test_it_names_the_launcher_and_takes_part_in_no_stage(launcher):
    hook = build_hook("DDPHook", {"launcher": launcher})
    hooks = HookList()
    hooks.add(hook)
    assert (hook.launcher, hook.STRATEGY, hook.get_triggered_stages()) == (launcher, "ddp", [])


def test_a_launcher_that_nobody_knows_is_refused():
    with pytest.raises(ConfigError, match=r"launcher: found 'slrum'; allowed: pytorch, mpi, slurm"):
        build_hook("DDPHook", {"launcher": "slrum"}, "train.hooks[0]")
