from __future__ import annotations

import pytest

from adapter.config import json_text
from adapter.errors import ConfigError

TEXT = """{
  "a": {"b": 1, "c": [],
        "odd \\"{[,: key": null},
  "l": [1,
        {"type": "T",
         "n": [true, -1.5e-3]},
        [],
        ["}", 2]],
  "é": "x"
}"""


def test_every_key_has_its_line():
    document = json_text.read(TEXT)
    assert document.values["l"][1]["n"] == [True, -0.0015]
    assert document.lines == {
        "a": 2, "a.b": 2, "a.c": 2, 'a.odd "{[,: key': 3,
        "l": 4, "l[0]": 4, "l[1]": 5, "l[1].type": 5, "l[1].n": 6, "l[1].n[0]": 6,
        "l[1].n[1]": 6, "l[2]": 7, "l[3]": 8, "l[3][0]": 8, "l[3][1]": 8, "é": 9,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('{"a": 1,\n}', (1, 2), "not valid JSON"),
        ('{"a": 1\n "b": 2}', (2,), "Expecting ',' delimiter"),
        ('{"a": 1,\n"a": 2}', (2,), "a: the key is given twice, in lines 1 and 2"),
        (
            '{"x": [{"b": 1, "c": {"b": 2},\n"b": 3}]}',
            (2,),
            r"x\[0\].b: the key is given twice, in lines 1 and 2",
        ),
        ("// comment\n{}", (1,), "JSON allows no comments"),
    ],
)
def test_refused(text, line, message):
    with pytest.raises(ConfigError, match=message) as caught:
        json_text.read(text)
    assert caught.value.problems[0].line in line


def test_a_key_with_a_dot_is_not_a_duplicate():
    assert json_text.read('{"a.b": 1, "a": {"b": 2}}').values == {"a.b": 1, "a": {"b": 2}}


def test_a_long_line_is_shown_around_the_error():
    with pytest.raises(ConfigError) as caught:
        json_text.read('{"k": [' + "1, " * 500 + "]}")
    *_, shown, pointer, _fix = str(caught.value).split("\n")
    assert len(shown) < 120
    assert shown[pointer.index("^")] in ",]"  # from 3.13 on Python points to the comma, not to what follows it


def test_nesting_is_limited():
    with pytest.raises(RecursionError):
        json_text.read("[" * 150 + "]" * 150)
