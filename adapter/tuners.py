"""Efficient tuners: small trainable adapters on a model whose own weights stay as they are."""

from __future__ import annotations

import copy
import importlib.util
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from adapter.aside import written_aside
from adapter.errors import ConfigError, Problem, nearest
from adapter.registry import check_arguments

if TYPE_CHECKING:
    from pathlib import Path

    from torch import nn

KEY = "efficient_tuners"
Tuners = dict[str, Any]  # name of the adapter -> its config, of peft or ms-swift


def read_tuners(given: Any, key: str = KEY) -> Tuners:
    """The configs of the adapters that are asked for.

    Args:
        given: A config object of peft or ms-swift; or ``{"type": "lora", **arguments}`` for one of peft; or a mapping
            from the adapters' names to such.
        key: Where it stands, for error messages.

    Raises:
        ConfigError: The package is not installed, or peft has no such type or argument.
    """
    if isinstance(given, Mapping) and "type" not in given and "peft_type" not in given:
        named = given.items()
    else:
        named = {"default": given}.items()
    return {name: _read(config, key if config is given else f"{key}.{name}") for name, config in named}


def is_peft(config: Any) -> bool:
    """Whether a config of an adapter is one of peft's."""
    if importlib.util.find_spec("peft") is None:
        return False
    from peft import PeftConfig

    return isinstance(config, PeftConfig)


def add_tuners(model: nn.Module, tuners: Tuners, key: str = KEY) -> nn.Module:
    """The model with the adapters in it; only they, and what their configs name, are trained.

    peft's layers are put into the model, which keeps its class and ``forward``; prompts and ms-swift's tuners wrap it.

    Args:
        model: The model.
        tuners: The adapters, by name.
        key: Where they are described, named in errors.

    Raises:
        ConfigError: The adapters do not fit the model.
    """
    try:
        if not all(map(is_peft, tuners.values())):
            from swift import Swift

            return Swift.prepare_model(model, tuners if len(tuners) > 1 else next(iter(tuners.values())))
        return _add_peft(model, tuners)
    except (ValueError, TypeError, KeyError, AttributeError, ImportError) as error:
        raise ConfigError(Problem(key, f"they do not fit {type(model).__name__}: {error}")) from error


def check_merge(tuners: Tuners, key: str) -> None:
    """Refuse to merge what cannot be merged.

    Raises:
        ConfigError: There are no adapters, or some that are no layers of the model.
    """
    if not tuners:
        raise ConfigError(Problem(f"{key}.merge", "there are no adapters to merge", fix=f"describe them in {key}"))
    for name, config in tuners.items():
        if not is_peft(config) or config.is_prompt_learning:
            found = f"'{name}' ({type(config).__name__}) adds to what goes through the model, not to its weights"
            raise ConfigError(Problem(f"{key}.merge", found, fix="leave it out; the adapter alone is in output/"))


def save_tuners(model: nn.Module, tuners: Tuners, folder: Path, flat: bool = False) -> None:
    """Write each adapter alone, in a folder named after it, as ``peft.PeftModel.from_pretrained`` reads it.

    Args:
        model: With the adapters in it.
        tuners: The adapters.
        folder: Where to write.
        flat: Put the one named ``default`` into ``folder`` itself, as peft does.
    """
    from peft import PeftModel, get_peft_model_state_dict
    from safetensors.torch import save

    if isinstance(model, PeftModel) or not all(map(is_peft, tuners.values())):
        model.save_pretrained(str(folder))  # type: ignore[operator]  # a wrapper knows how
        return
    for name, config in tuners.items():
        place = folder if flat and name == "default" else folder / name
        place.mkdir(parents=True, exist_ok=True)
        weights = get_peft_model_state_dict(model, adapter_name=name)
        named = {f"base_model.model.{key}": value.detach().cpu().contiguous() for key, value in weights.items()}
        with written_aside(place / "adapter_model.safetensors") as file:
            file.write(save(named))
        config.save_pretrained(str(place))


def merged_weights(model: nn.Module) -> dict[str, Any]:
    """Weights of the model that the adapters were put into, with which it computes what it does with them.

    One layer at a time is copied, and merged by peft.
    """
    from peft.tuners.tuners_utils import BaseTunerLayer
    from peft.utils import ModulesToSaveWrapper

    weights = model.state_dict()
    for name, module in model.named_modules():
        if isinstance(module, BaseTunerLayer):
            alone = copy.deepcopy(module)
            alone.merge()
            plain = alone.get_base_layer()
        elif isinstance(module, ModulesToSaveWrapper):
            plain = module.modules_to_save[module.active_adapters[0]]
        else:
            continue
        weights = {key: value for key, value in weights.items() if not key.startswith(f"{name}.")}
        weights |= {f"{name}.{key}": value for key, value in plain.state_dict().items()}
    return weights


def _add_peft(model: nn.Module, tuners: Tuners) -> nn.Module:
    from peft import get_peft_model, inject_adapter_in_model
    from peft.tuners.tuners_utils import BaseTunerLayer

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Already found a `peft_config` attribute")  # several adapters are meant
        for name, config in tuners.items():
            if config.is_prompt_learning:
                model = get_peft_model(model, config, adapter_name=name)
            else:
                model = inject_adapter_in_model(config, model, adapter_name=name)
    if len(tuners) > 1:  # all of them at once, not the last one only
        for layer in model.modules():
            if isinstance(layer, BaseTunerLayer):
                layer.set_adapter(list(tuners))
    return model


def _read(config: Any, key: str) -> Any:
    if isinstance(config, Mapping):
        return _peft_config(dict(config), key)
    if is_peft(config) or importlib.util.find_spec("swift") is not None:
        return config
    found = f"{type(config).__module__}.{type(config).__name__} is no config of peft; others need the package ms-swift"
    raise ConfigError(Problem(key, found, fix="pip install ms-swift, or use one of peft", kind="name"))


def _peft_config(args: dict[str, Any], key: str) -> Any:
    """A config of peft from ``{"type": "lora", **arguments}``."""
    kind = str(args.pop("type", None) or args.pop("peft_type", ""))
    if importlib.util.find_spec("peft") is None:
        fix = "pip install 'ms-lightning-adapter[tuners]'"
        raise ConfigError(Problem(key, f"'{kind}' needs the package peft", fix=fix, kind="name"))
    from peft import PEFT_TYPE_TO_CONFIG_MAPPING

    known = {name.value.lower(): cls for name, cls in PEFT_TYPE_TO_CONFIG_MAPPING.items()}
    cls = known.get(kind.lower().removesuffix("config"))
    if cls is None:
        found, near = f"peft has no tuner '{kind}'", nearest(kind, known)
        raise ConfigError(Problem(f"{key}.type", found, allowed=", ".join(sorted(known)), nearest=near, kind="name"))
    check_arguments(cls, args, key)
    try:
        return cls(**args)
    except (ValueError, TypeError) as error:
        raise ConfigError(Problem(key, f"{kind} refuses its arguments: {error}")) from error
