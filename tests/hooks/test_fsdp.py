"""FSDPHook's arguments."""

from __future__ import annotations

import pytest

from adapter import ConfigError
from adapter.hooks.fsdp import FSDPHook


@pytest.mark.parametrize(
    ("arguments", "attribute", "value"),
    [
        ({}, "wrap_classes", ()),
        ({"wrap_classes": "Block"}, "wrap_classes", ("Block",)),
        ({"wrap_classes": ["Block", "Head"]}, "wrap_classes", ("Block", "Head")),
        ({"mixed_precision": "bfloat16"}, "mixed_precision", {"param_dtype": "bfloat16", "reduce_dtype": "float32"}),
        ({"mixed_precision": {"param_dtype": "float16"}}, "mixed_precision", {"param_dtype": "float16"}),
    ],
)
def test_arguments(arguments, attribute, value):
    assert getattr(FSDPHook(**arguments), attribute) == value


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("bf16", "mixed_precision: found 'bf16'; allowed: bfloat16, float16, float32"),
        ({"param_dtype": "fp8"}, "mixed_precision.param_dtype: found 'fp8'"),
        ({"dtype": "float16"}, "mixed_precision.dtype: is not known; allowed: param_dtype"),
    ],
)
def test_mixed_precision_is_checked(given, text):
    with pytest.raises(ConfigError) as refused:
        FSDPHook(mixed_precision=given)
    assert text in str(refused.value)
