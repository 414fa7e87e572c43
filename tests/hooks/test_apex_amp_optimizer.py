from __future__ import annotations

import pytest

from adapter.errors import ConfigError
from adapter.hooks.apex_amp_optimizer import ApexAMPOptimizerHook
from adapter.plan import make_plan
from adapter.prepare import prepare
from tests.runs import make, messages


@pytest.mark.parametrize(
    ("level", "precision"), [("O0", "32-true"), ("O1", "16-mixed"), ("O2", "16-true"), ("O3", "16-true")]
)
def test_levels(level, precision, tmp_path):
    trainer = make(tmp_path, train={"optimizer_hook": {"type": "ApexAMPOptimizerHook", "opt_level": level}})
    assert make_plan(prepare(trainer.cfg).config).precision == precision
    trainer.train()
    told = f"ApexAMPOptimizerHook: opt_level {level} is run as Lightning's precision {precision}, without apex"
    assert told in messages(tmp_path)


def test_an_unknown_level_is_refused():
    with pytest.raises(ConfigError, match=r"opt_level: found 'O4'.*O0, O1, O2, O3"):
        ApexAMPOptimizerHook(opt_level="O4")
