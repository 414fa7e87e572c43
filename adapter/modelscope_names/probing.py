"""ModelScope's functions that ask what is installed, and what an object has."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

# Name of the function -> module it asks for.
MODULES = {
    "is_diffusers_available": "diffusers",
    "is_opencv_available": "cv2",
    "is_pillow_available": "PIL",
    "is_scipy_available": "scipy",
    "is_sentencepiece_available": "sentencepiece",
    "is_sklearn_available": "sklearn",
    "is_swift_available": "swift",
    "is_tf_available": "tensorflow",
    "is_timm_available": "timm",
    "is_tokenizers_available": "tokenizers",
    "is_torch_available": "torch",
    "is_transformers_available": "transformers",
}


def exists(package: str) -> bool:
    """Whether a package can be imported."""
    return importlib.util.find_spec(package) is not None


def is_torch_cuda_available() -> bool:
    """Whether torch finds a GPU."""
    import torch

    return torch.cuda.is_available()


def has_method(obj: object, method: str) -> bool:
    """Whether an object has a method of the name."""
    return callable(getattr(obj, method, None))


def has_attr_in_class(cls: type, attribute_name: str) -> bool:
    """Whether a class or one of its bases defines the attribute."""
    return any(attribute_name in vars(base) for base in cls.__mro__)


def is_method_overridden(method: str, base_class: type, derived_class: Any) -> bool:
    """Whether a class, or the class of an object, has another method of the name than the base class."""
    derived = derived_class if isinstance(derived_class, type) else type(derived_class)
    return getattr(derived, method) is not getattr(base_class, method)


def _asks_for(name: str, module: str) -> Callable[[], bool]:
    def ask() -> bool:
        return exists(module)

    ask.__name__, ask.__doc__ = name, f"Whether {module} is installed."
    return ask


globals().update({name: _asks_for(name, module) for name, module in MODULES.items()})
