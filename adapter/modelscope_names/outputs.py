"""ModelScope's classes of model outputs: fields by name, which count as absent while they are None."""

from __future__ import annotations

from dataclasses import dataclass, fields, make_dataclass
from typing import Any

ENCODED = "past_key_values decoder_hidden_states decoder_attentions cross_attentions encoder_last_hidden_state \
encoder_hidden_states encoder_attentions"
# Class -> its fields, in order.
FIELDS = {
    "AttentionBackboneModelOutput": "last_hidden_state pooler_output hidden_states attentions past_key_values \
cross_attentions",
    "AttentionFillMaskModelOutput": "logits loss input_ids hidden_states attentions",
    "AttentionTextClassificationModelOutput": "logits loss attentions hidden_states past_key_values",
    "AttentionTextGenerationModelOutput": "logits loss attentions hidden_states past_key_values",
    "AttentionTokenClassificationModelOutput": "logits loss offset_mapping predictions label_mask attentions \
hidden_states",
    "BackboneModelOutput": "last_hidden_state pooler_output hidden_states",
    "DetectionOutput": "class_ids scores boxes keypoints",
    "FillMaskModelOutput": "logits loss input_ids hidden_states",
    "SentencEmbeddingModelOutput": "query_embeddings doc_embeddings loss",
    "Seq2SeqLMOutput": f"loss logits {ENCODED}",
    "Seq2SeqModelOutput": f"last_hidden_state {ENCODED}",
    "TextClassificationModelOutput": "logits loss",
    "TextGenerationModelOutput": "logits loss",
    "TokenClassificationModelOutput": "logits loss offset_mapping predictions label_mask",
    "TokenGeneratorOutput": "sequences scores attentions hidden_states",
}


@dataclass
class ModelOutputBase:
    """Base of model outputs; subclasses are dataclasses. A field is found by name or by place among those not None."""

    def __getitem__(self, item: str | int | slice) -> Any:
        return self.to_dict()[item] if isinstance(item, str) else tuple(self.to_dict().values())[item]

    def __setitem__(self, name: str, value: Any) -> None:
        setattr(self, name, value)

    def keys(self) -> list[str]:
        """Names of the fields that are not None."""
        return list(self.to_dict())

    def items(self) -> list[tuple[str, Any]]:
        """Names and values of the fields that are not None."""
        return list(self.to_dict().items())

    def to_dict(self) -> dict[str, Any]:
        """The fields that are not None."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}


def __getattr__(name: str) -> type:
    if name not in FIELDS:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    own = [(field, Any, None) for field in FIELDS[name].split()]
    cls = make_dataclass(name, own, bases=(ModelOutputBase,), namespace={"__module__": __name__})
    globals()[name] = cls
    return cls
