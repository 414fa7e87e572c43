"""What tasks are found, and what they make of a model's outputs."""

from __future__ import annotations

import pkgutil

import pytest
import torch

from adapter import tasks
from adapter.data.labels import Labels
from adapter.metrics.build import build_metrics
from adapter.metrics.task_metrics import task_default_metrics
from adapter.plan import Component
from adapter.tasks.task import class_rows, find_task, known_tasks
from adapter.tasks.token_classification import word_rows

LABELS = Labels(("no", "yes"))


def test_every_module_of_the_folder_is_found() -> None:
    modules = {info.name for info in pkgutil.iter_modules(tasks.__path__)} - {"task"}
    assert len({id(task) for task in known_tasks().values()}) == len(modules)


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("text-classification", "AutoModelForSequenceClassification"),
        ("nli", "AutoModelForSequenceClassification"),
        ("named-entity-recognition", "AutoModelForTokenClassification"),
        ("text-generation", "AutoModelForCausalLM"),
    ],
)
def test_tasks_by_name(name: str, head: str) -> None:
    assert find_task(name).head == head


@pytest.mark.parametrize("name", ["my-task", None, 3])
def test_other_names_are_no_task(name) -> None:
    assert find_task(name) is None


@pytest.mark.parametrize("name", ["text-classification", "nli", "sentence-similarity", "token-classification"])
def test_a_task_has_default_metrics(name: str) -> None:
    assert task_default_metrics(name)


def test_rows_of_classes() -> None:
    logits = torch.tensor([[0.0, 0.0], [0.0, 2.0]])
    first, second = class_rows({"logits": logits}, {}, LABELS)
    assert first == {"label": "no", "score": 0.5, "scores": {"no": 0.5, "yes": 0.5}}
    assert second["label"] == "yes"
    assert second["score"] == pytest.approx(0.8808, abs=1e-4)


@pytest.mark.parametrize(
    ("outputs", "labels"),
    [({"logits": torch.ones(2, 2)}, None), ({"logits": torch.ones(2, 3)}, LABELS), ({"loss": torch.ones(())}, LABELS)],
)
def test_without_names_of_all_classes_there_is_nothing_to_say(outputs, labels) -> None:
    assert class_rows(outputs, {}, labels) == []


def test_rows_of_words_leave_out_what_is_no_word() -> None:
    logits = torch.tensor([[[9.0, 0.0], [9.0, 0.0], [0.0, 9.0]]])
    (row,) = word_rows({"logits": logits}, {"labels": torch.tensor([[-100, 0, 0]])}, LABELS)
    assert row["labels"] == ["no", "yes"]
    assert len(row["scores"]) == 2


@pytest.mark.parametrize(
    ("name", "needs"),
    [("nli", True), ("text-regression", True), ("text-generation", False), ("image-classification", False)],
)
def test_which_tasks_need_labels(name: str, needs: bool) -> None:
    assert find_task(name).needs_labels is needs


def test_every_task_has_metrics_that_are_there() -> None:
    for name in known_tasks():
        assert task_default_metrics(name), name
        assert build_metrics([Component(metric, key="task") for metric in task_default_metrics(name)])
