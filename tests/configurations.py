"""Texts as `modelcheck kafka review` reads and resolves them."""

from __future__ import annotations

from modelcheck.kafka.settings.readers.recognition import read_text
from modelcheck.kafka.settings.readings import Reading
from modelcheck.kafka.settings.resolution.settings import Settings, resolve
from spec.diagnostics import SpecError
from spec.source import Source


def read(text: str, name: str = "f") -> Reading:
    """What one file says. Raises SpecError where it cannot be used."""
    reading = read_text(Source(name, text))
    if reading.problems:
        raise SpecError(reading.problems)
    return reading


def settings(text: str, name: str = "f") -> Settings:
    """What one file comes to. Raises SpecError."""
    return resolve([read(text, name)])
