"""Which version of modelcheck this is."""

from __future__ import annotations

from importlib import metadata


def version() -> str:
    """The version that is installed; `source` where the code runs without being installed."""
    try:
        return metadata.version("modelcheck")
    except metadata.PackageNotFoundError:
        return "source"
