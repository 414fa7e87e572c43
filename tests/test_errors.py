from __future__ import annotations

import pickle

import pytest

from adapter.errors import ConfigError, Problem, at_line, nearest


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        (Problem("", "the file is empty"), "the file is empty"),
        (Problem("a.b", "found 'x'"), "a.b: found 'x'"),
        (Problem("a", "found 0", allowed="1 or more", line=3), "line 3, a: found 0; allowed: 1 or more"),
        (Problem("a", "unknown", nearest="b", fix="use b"), "a: unknown. Did you mean 'b'?\n    fix: use b"),
    ],
)
def test_problem_text(problem, text):
    assert str(problem) == text


@pytest.mark.parametrize(
    ("problems", "text"),
    [
        ("no such file", "run.yaml: 1 problem\n  no such file"),
        (Problem("a", "bad", fix="f"), "run.yaml: 1 problem\n  a: bad\n      fix: f"),
        ([Problem("a", "bad"), Problem("b", "worse")], "run.yaml: 2 problems\n  a: bad\n  b: worse"),
    ],
)
def test_error_lists_every_problem(problems, text):
    assert str(ConfigError(problems, "run.yaml")) == text


def test_error_without_a_file():
    error = ConfigError("bad")
    assert str(error).startswith("config: 1 problem")
    assert str(error.with_file("run.yaml")).startswith("run.yaml: 1 problem")
    assert error.with_file("run.yaml").with_file("other.yaml").file == "run.yaml"


def test_error_survives_another_process():
    error = pickle.loads(pickle.dumps(ConfigError(Problem("a", "bad", line=2), "run.yaml")))
    assert (error.problems, error.file) == ((Problem("a", "bad", line=2),), "run.yaml")


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("EvalHook", ["EvaluationHook", "Other"], "EvaluationHook"),
        ("SGDD", ["SGD", "Adam"], "SGD"),
        ("adamw", ["AdamW"], "AdamW"),
        ("zzz", ["SGD"], ""),
        (3, ["SGD"], ""),
        ("a", [], ""),
    ],
)
def test_nearest(name, known, expected):
    assert nearest(name, known) == expected


@pytest.mark.parametrize(("own", "given", "expected"), [(None, 4, 4), (2, 4, 2), (None, None, None)])
def test_at_line(own, given, expected):
    assert at_line(Problem("a", "bad", line=own), given).line == expected
