"""Which version of modelcheck this is."""

from __future__ import annotations

VERSION = "0.1.0"  # `pyproject.toml` reads it here; to ask what is installed takes a tenth of a start
