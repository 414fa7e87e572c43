from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest
from PIL import Image

from adapter.cli.main import main
from adapter.errors import ConfigError
from adapter.plot import plot
from tests.test_curves import BY_EPOCH, evaluated, train, write

RUNS = {
    "old": {"loss": [(0.5, 3.0), (1.0, 2.0)], "lr": [(0.5, 0.1)], "iter_time": [(0.5, 9.0)]},
    "new": {"loss": [(0.5, 2.0)], "evaluation/f1": [(1.0, 0.5)]},
}


def size_of(path):
    with Image.open(path, formats=["PNG"]) as picture:
        return picture.size


def test_a_page_shows_every_value_but_times_and_names_every_run(tmp_path):
    plot(RUNS, tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text()
    svg = ElementTree.fromstring(page[page.index("<svg") : page.index("</svg>") + 6])
    comments = set(re.findall("<!-- (.*?) -->", page))
    assert {"loss", "lr", "evaluation/f1", "old", "new"} <= comments
    assert "iter_time" not in comments
    assert svg.tag.endswith("svg")


def test_a_picture_has_a_panel_a_value(tmp_path):
    plot(RUNS, tmp_path / "three.png")
    plot({"one": {"loss": [(1.0, 1.0)]}}, tmp_path / "one.png")
    three, one = (size_of(tmp_path / name) for name in ("three.png", "one.png"))
    assert (three[0], three[1]) == (one[0] * 3, one[1])


@pytest.mark.parametrize(
    ("runs", "name", "message"),
    [(RUNS, "a.gif", r"cannot draw into 'a.gif'"), ({"a": {"iter_time": [(1.0, 1.0)]}}, "a.png", "no values yet")],
)
def test_refused(runs, name, message, tmp_path):
    with pytest.raises(ConfigError, match=message):
        plot(runs, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_the_command_draws_work_directories(tmp_path, capsys):
    write(tmp_path, [train(1, 4, 3.0), evaluated(1, 0.5)], BY_EPOCH)
    out = tmp_path / "new" / "curves.png"
    assert main(["plot", str(tmp_path), "-o", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}\n"
    assert size_of(out)[0] > 100
