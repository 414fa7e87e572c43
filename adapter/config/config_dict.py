"""ConfigDict: a dict whose keys are attributes too, at every depth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from adapter.errors import nearest

D = TypeVar("D", bound="ConfigDict")


class ConfigDict(dict[str, Any]):
    """A dict with attribute access: ``cfg.train.optimizer.lr``.

    Containers are copied in: nested dicts, inside lists and tuples as well, become ConfigDicts when stored.
    A name that dict itself has (``items``, ``pop``) stays the method; ``cfg["items"]`` is the key.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, _owned(value))

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            close = "" if name.startswith("__") else nearest(name, map(str, self))
            hint = f"; did you mean '{close}'?" if close else ""
            raise AttributeError(f"no key '{name}' here{hint}", name=name, obj=self) from None

    def __setattr__(self, name: str, value: Any) -> None:
        if hasattr(type(self), name):
            raise AttributeError(f"'{name}' is a method; set the key with cfg['{name}'] = ...")
        self[name] = value

    def __delattr__(self, name: str) -> None:
        if name not in self:
            raise AttributeError(f"no key '{name}' here")
        del self[name]

    def __ior__(self: D, other: Any) -> D:  # type: ignore[override,misc]  # dict's own takes pairs too
        for key, value in dict(other).items():
            self[key] = value
        return self

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The value of ``key``, stored as ``default`` first when it is absent."""
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Store every key given; a dict that meets a dict updates it instead of replacing it."""
        for key, value in dict(*args, **kwargs).items():
            present = self.get(key)
            if isinstance(present, ConfigDict) and isinstance(value, Mapping):
                present.update(value)
            else:
                self[key] = value

    def copy(self: D) -> D:
        """A shallow copy of the same class."""
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        dict.update(twin, self)
        return twin

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and tuples all the way down; other values as they are."""
        return {key: unwrapped(value) for key, value in self.items()}


def unwrapped(value: Any) -> Any:
    """``value`` with plain, copied containers."""
    if isinstance(value, Mapping):
        return {key: unwrapped(item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(unwrapped(item) for item in value)
    return value


def _owned(value: Any) -> Any:
    """``value`` as a config stores it: dicts as ConfigDicts, lists and tuples copied."""
    if isinstance(value, dict):
        return value if isinstance(value, ConfigDict) else ConfigDict(value)
    if type(value) in (list, tuple):
        return type(value)(_owned(item) for item in value)
    return value
