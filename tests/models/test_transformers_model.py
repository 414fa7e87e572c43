from __future__ import annotations

import pytest
import torch
import transformers

from adapter import ConfigError
from adapter.models.transformers_model import transformers_model
from tests.tiny_models import tiny_bert, tiny_gpt


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return str(tiny_bert(tmp_path_factory.mktemp("bert")))


def test_the_weights_are_those_of_the_directory(bert):
    model = transformers_model(bert, task="text-classification", num_labels=3)
    base = transformers.AutoModel.from_pretrained(bert)
    assert type(model).__name__ == "BertForSequenceClassification"
    assert model.config.num_labels == 3
    own = model.bert.state_dict()
    assert all(torch.equal(own[name], value) for name, value in base.state_dict().items())


@pytest.mark.parametrize(
    ("task", "kind"),
    [("token-classification", "BertForTokenClassification"), ("nli", "BertForSequenceClassification")],
)
def test_the_task_decides_the_head(bert, task, kind):
    assert type(transformers_model(bert, task=task, num_labels=2)).__name__ == kind


def test_a_text_generation_model(tmp_path):
    assert type(transformers_model(str(tiny_gpt(tmp_path)), task="text-generation")).__name__ == "GPT2LMHeadModel"


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"path": "nowhere"}, "path"),
        ({"head": "AutoModelForNothing"}, "head"),
        ({"hidden_dropout": 1}, "hidden_dropout"),
    ],
)
def test_refused(bert, options, key):
    with pytest.raises(ConfigError) as caught:
        transformers_model(**{"path": bert, "task": "text-classification", **options})
    assert key in caught.value.problems[0].key
