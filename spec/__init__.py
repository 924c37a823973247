"""The language of models: text, types, meaning."""

from __future__ import annotations
