"""How many tokens a model of transformers can hold."""

from __future__ import annotations

from torch import nn


def token_positions(model: nn.Module) -> int | None:
    """Tokens of a text that a model's table of positions has rows for; None for a model without such a table.

    Models that compute positions (rotary ones, or relative to each other) go beyond what their config names.
    """
    count = getattr(getattr(model, "config", None), "max_position_embeddings", None)
    for name, module in model.named_modules():
        last = name.rpartition(".")[2]
        table = isinstance(module, nn.Embedding) and ("position" in last or last == "wpe")
        if table and module.num_embeddings == count:
            padding = module.padding_idx
            return count if padding is None else count - padding - 1  # RoBERTa's begin after that of the padding
    return None
