from __future__ import annotations

import math

import pytest
import yaml

from adapter.config import yaml12
from adapter.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2e-6", 2e-6),
        ("1e-05", 1e-05),
        ("2e4", 20000.0),
        ("+1.5E+3", 1500.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("-0.0", -0.0),
        (".inf", math.inf),
        ("-.INF", -math.inf),
        ("12", 12),
        ("-7", -7),
        ("017", 17),
        ("0o17", 15),
        ("0x1F", 31),
        ("~", None),
        ("null", None),
        ("Null", None),
        ("", None),
        ("true", True),
        ("False", False),
        ("!!str 12", "12"),
        ("!!float 3", 3.0),
        ("'2e4'", "2e4"),
    ],
)
def test_scalars_of_the_core_schema(text, expected):
    value = yaml12.read(f"key: {text}").values["key"]
    assert (value, type(value)) == (expected, type(expected))


@pytest.mark.parametrize("text", [".nan", ".NaN", ".NAN"])
def test_not_a_number(text):
    assert math.isnan(yaml12.read(text).values)


@pytest.mark.parametrize(
    "text",
    ["yes", "no", "on", "Off", "y", "1_000", "12:30", "2020-01-01", "2001-12-14t21:59:43.10-05:00", "0b11",
     "0X1F", "0o8", "-0x1F", "1e", "e5", ".", "1.2.3", "tRUE", "nULL", "+.nan", "${root}/x", "=", "<<x"],
)  # fmt: skip
def test_everything_else_is_text(text):
    assert yaml12.read(f"key: {text}").values == {"key": text}


def test_anchors_are_copies():
    values = yaml12.read("a: &x {k: [1]}\nb: *x\n").values
    values["b"]["k"].append(2)
    assert values == {"a": {"k": [1]}, "b": {"k": [1, 2]}}


@pytest.mark.parametrize(
    ("merge", "expected"),
    [
        ("{<<: *x, b: 9}", {"a": 1, "b": 9}),
        ("{b: 9, <<: *x}", {"a": 1, "b": 9}),
        ("{<<: [*x, *y]}", {"a": 1, "b": 2, "c": 4}),
        ("{<<: [*y, *x]}", {"a": 1, "b": 3, "c": 4}),
        ("{<<: {d: 1}}", {"d": 1}),
        ("{'<<': 5}", {"<<": 5}),
    ],
)
def test_merge_keys(merge, expected):
    text = f"x: &x {{a: 1, b: 2}}\ny: &y {{b: 3, c: 4}}\nz: {merge}"
    assert yaml12.read(text).values["z"] == expected


def test_every_key_has_its_line():
    text = "a: &x\n  k: 1\nb:\n- type: T\n  n: 2\n- [3,\n   4]\nc:\n  <<: *x\n  own: 5\n0: zero\n"
    assert yaml12.read(text).lines == {
        "a": 1, "a.k": 2,
        "b": 3, "b[0]": 4, "b[0].type": 4, "b[0].n": 5, "b[1]": 6, "b[1][0]": 6, "b[1][1]": 7,
        "c": 8, "c.k": 2, "c.own": 10, "0": 11,
    }  # fmt: skip


def deep(levels: int) -> str:
    return "[" * levels + "]" * levels


def laughs(levels: int, merge: str) -> str:
    return "\n".join(["a0: &a0 {x: 1}", *(f"a{i}: &a{i} {merge.format(f'*a{i - 1}')}" for i in range(1, levels))])


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a: 1\nb: {c\nd: 2\n", 3, "flow mapping that begins in line 2"),
        ("a: b: c", 1, "mapping values are not allowed"),
        ("a: 1\nb: 2\na: 3", 3, "lines 1 and 3"),
        ("a:\n  b: 1\n  b: 2", 3, "lines 2 and 3"),
        ("a: !!python/object/apply:os.getcwd []", 1, "tag '!!python/object/apply:os.getcwd'"),
        ("a: !mine {b: 1}", 1, "tag '!mine'"),
        ("a: !!binary aGk=", 1, "tag '!!binary'"),
        ("x: 1\na: !!int foo", 2, "'foo' cannot be read as '!!int'"),
        ("? [a]\n: 1", 1, "cannot be a key"),
        ("a: 1\nb: &x [*x]", 2, "contains itself"),
        ("a: &x {<<: *x}", 1, "'<<' takes"),
        ("a: {<<: 5}", 1, "'<<' takes"),
        ("a: *nowhere", 1, "undefined alias"),
        ("a: 1\n---\nb: 2", 2, "another document"),
        ("a: 1\nb: é\x07", 2, r"'\\x07' is not allowed"),
        (deep(150), 1, "levels deep"),
        (laughs(40, "{{p: {0}, q: {0}}}"), 1, "aliases that unfold"),
        (laughs(40, "{{<<: [{0}, {0}]}}"), None, "aliases that unfold"),
    ],
)
def test_refused(text, line, message):
    with pytest.raises(ConfigError, match=message) as caught:
        yaml12.read(text)
    (problem,) = caught.value.problems
    assert problem.kind == "file"
    assert line in (None, problem.line)


def test_syntax_error_points_at_the_place():
    with pytest.raises(ConfigError) as caught:
        yaml12.read("train:\n  lr: 1: 2\n")
    *_, shown, pointer = str(caught.value).split("\n")
    assert shown.strip() == "lr: 1: 2"
    assert shown[pointer.index("^")] == ":"


TRICKY = [
    "yes",
    "2e-6",
    "0o17",
    "1_000",
    "12:30",
    "2020-01-01",
    "null",
    "~",
    "",
    " x",
    "a: b",
    "#",
    "é\n\n b\t",
    "=",
    "<<",
]


@pytest.mark.parametrize("text", TRICKY)
def test_written_text_reads_back_as_text(text):
    written = yaml12.write({"key": text, text: 1})
    assert yaml12.read(written).values == {"key": text, text: 1}
    assert yaml.safe_load(written) == {"key": text, text: 1}
