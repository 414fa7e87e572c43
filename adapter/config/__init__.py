"""What the user wrote: config files of any format, with the line of each key, and overrides on top."""

from adapter.config.config import Config
from adapter.config.config_dict import ConfigDict
from adapter.config.overrides import parse_overrides

__all__ = ["Config", "ConfigDict", "parse_overrides"]
