"""Config: what a file says, or a dict in code, with the line of each key."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from adapter.config import reading, writing
from adapter.config.config_dict import ConfigDict
from adapter.config.merging import Merge
from adapter.config.paths import MISSING, find, leaves


class Config(ConfigDict):
    """A config with attribute access.

    Args:
        cfg_dict: Its values; copied.
        cfg_text: The text they come from.
        filename: The file they come from.

    Raises:
        TypeError: ``cfg_dict`` is no mapping.
    """

    _text: str
    _filename: str | None
    _lines: dict[str, int]

    def __init__(
        self,
        cfg_dict: Mapping[str, Any] | None = None,
        cfg_text: str | None = None,
        filename: str | os.PathLike[str] | None = None,
    ) -> None:
        if cfg_dict is not None and not isinstance(cfg_dict, Mapping):
            raise TypeError(f"a config is made from a dict, not from {type(cfg_dict).__name__}")
        self.__dict__.update(_text=cfg_text or "", _filename=filename and os.fspath(filename), _lines={})
        super().__init__(cfg_dict or {})

    @classmethod
    def from_file(cls, filename: str | os.PathLike[str], trust_remote_code: bool = False) -> Config:
        """Read a ``.json``, ``.yaml``, ``.yml`` or ``.py`` file; the last one runs code and needs the trust.

        Raises:
            ConfigError: The file is missing or broken; says where and what to do.
        """
        name = os.fspath(filename)
        text, document = reading.read_file(name, trust_remote_code)
        return cls._from_document(document, text, name)

    @classmethod
    def from_string(cls, cfg_str: str, file_format: str, trust_remote_code: bool = False) -> Config:
        """Read the text of a config file; ``file_format`` is the suffix it would have (``.yaml``).

        Raises:
            ConfigError: The text is broken; says where and what to do.
        """
        document = reading.read_text(cfg_str, file_format, trust_remote_code=trust_remote_code)
        return cls._from_document(document, cfg_str, None)

    @classmethod
    def _from_document(cls, document: reading.Document, text: str, filename: str | None) -> Config:
        config = cls(document.values, text, filename)
        config._lines.update(document.lines)
        return config

    @property
    def filename(self) -> str | None:
        """The file as the user named it; None for a config made in code."""
        return self._filename

    @property
    def text(self) -> str:
        """The text of the file; empty for a config made in code."""
        return self._text

    @property
    def pretty_text(self) -> str:
        """The config as YAML, for people to read."""
        return writing.to_text(self, ".yaml")

    def __repr__(self) -> str:
        return f"Config (path: {self.filename}): {dict.__repr__(self)}"

    def line_of(self, key: str) -> int | None:
        """Line of a key path (``train.hooks[1].type``) in the file, counted from 1.

        None for a key that the file does not have, or whose value an override has replaced.
        """
        return self._lines.get(key)

    def safe_get(self, key_chain: str, default: Any = None, type_field: str = "type") -> Any:
        """The value at a dotted path, or ``default`` when a step of it is absent.

        A list is entered by index (``train.hooks[0].interval``) or by an entry's type
        (``train.hooks.CheckpointHook.interval``, the first of that type).
        """
        found = find(self, key_chain, type_field)
        return default if found is MISSING else found

    def merge_from_dict(self, options: Mapping[str, Any], allow_list_keys: bool = True, force: bool = True) -> None:
        """Merge options in, in place: ``{"train.max_epochs": 3, "train.hooks.CheckpointHook.interval": 2}``.

        Dicts merge key by key, lists of ``{type: ...}`` entries type by type (a new type is appended);
        anything else is replaced, and ``_delete_: True`` in a dict replaces the dict that is there.

        Args:
            options: Values by dotted key.
            allow_list_keys: A key may enter a list, by number or type.
            force: Options win over values that are there; False only fills gaps.

        Raises:
            ConfigError: A list entry that does not exist, or keys given below a value that has none.
        """
        before = dict(leaves(self))
        Merge(force, allow_list_keys).into(self, options)
        after = dict(leaves(self))
        for path in before:
            if after.get(path, MISSING) is not before[path]:
                self._lines.pop(path, None)

    def dump(self, file: str | os.PathLike[str] | None = None) -> str | None:
        """Write the config to a ``.json``, ``.yaml`` or ``.yml`` file, or return it as JSON text.

        Raises:
            ConfigError: Another suffix.
        """
        if file is None:
            return writing.to_text(self)
        Path(file).write_text(writing.to_text(self, Path(file).suffix), encoding="utf-8")
        return None

    def to_args(self, parse_fn: Callable[[list[str]], Any], use_hyphen: bool = True) -> Any:
        """What ``parse_fn`` makes of the config as the words of a command line.

        Args:
            parse_fn: Gets words such as ``["--train.max-epochs", "3"]``; ``parser.parse_args`` for instance.
            use_hyphen: Write ``_`` in names as ``-``; argparse turns it back.
        """
        return parse_fn(writing.to_words(self, use_hyphen))
