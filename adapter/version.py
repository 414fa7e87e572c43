"""The version of the installed distribution."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def package_version() -> str:
    """Version of this distribution; ``unknown`` when it runs from a source tree that was never installed."""
    try:
        return version("ms-lightning-adapter")
    except PackageNotFoundError:
        return "unknown"
