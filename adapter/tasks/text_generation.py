"""Texts that go on from others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from adapter.data.labels import Labels
from adapter.models.forward import call_model
from adapter.tasks.task import Rows, Task

ONLY_GENERATION = ("prompt_ids", "prompt_mask", "max_new_tokens", "tgts")  # columns that forward does not take


def text_rows(outputs: Mapping[str, Any], inputs: Any, labels: Labels | None) -> Rows:
    """``{text}`` of each sample: what the model wrote."""
    return [{"text": text} for text in outputs.get("preds", ())]


def generate(model: nn.Module, batch: Any, preprocessor: Any, writes: bool = True) -> dict[str, Any]:
    """The loss of the batch with scores, (samples, tokens, vocabulary), each of the token at its own place.

    When ``writes``, also ``preds``: what the model writes, choosing the likeliest token each time.
    """
    outputs = call_model(model, {name: value for name, value in batch.items() if name not in ONLY_GENERATION})
    if "logits" in outputs:  # those of a place foretell the next one; nothing foretells the first, whose label is none
        outputs["logits"] = outputs["logits"].roll(1, dims=1)
    if not writes or "prompt_ids" not in batch:
        return outputs
    prompts, tokenizer = batch["prompt_ids"], preprocessor.tokenizer
    with torch.no_grad():
        made = model.generate(  # type: ignore[operator]
            input_ids=prompts,
            attention_mask=batch["prompt_mask"],
            max_new_tokens=batch["max_new_tokens"],
            do_sample=False,
            pad_token_id=tokenizer.pad_token_id or 0,
        )
    preds = tokenizer.batch_decode(made[:, prompts.shape[1] :], skip_special_tokens=True)
    return {**outputs, "preds": preds}


TASK = Task(names=("text-generation",), head="AutoModelForCausalLM", rows=text_rows, step=generate)
