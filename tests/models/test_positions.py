import pytest
import transformers
from torch import nn

from adapter.models.positions import token_positions

SMALL = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8, "vocab_size": 9}


@pytest.mark.parametrize(
    ("config", "positions"),
    [
        (transformers.BertConfig(**SMALL, max_position_embeddings=20), 20),
        (transformers.RobertaConfig(**SMALL, max_position_embeddings=20, pad_token_id=1), 18),
        (transformers.GPT2Config(n_embd=8, n_layer=1, n_head=2, n_positions=20, vocab_size=9), 20),
        (transformers.LlamaConfig(**SMALL, max_position_embeddings=9), None),
    ],
    ids=["bert", "roberta", "gpt2", "rotary"],
)
def test_positions_of_a_model(config, positions):
    assert token_positions(transformers.AutoModel.from_config(config)) == positions


def test_a_model_of_ones_own_has_none():
    assert token_positions(nn.Linear(2, 2)) is None
