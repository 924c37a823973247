"""The manual's entries for the words of the language: the rows of the tables of `spec/language.md`."""

from __future__ import annotations

import re
from functools import cache

from spec.elaboration.names import COLLECTIONS, MODES, NETWORK_FAULTS
from spec.frozen import frozen
from spec.model.op import FUNCTIONS
from spec.model.roles import HIDDEN, LABEL, ROLES, WORDS
from spec.reading import resource
from spec.syntax.tables import tables

VERBS = ("append", "add", "remove", "send", "receive")  # what follows a dot in a statement
_SPAN = re.compile(r"`([^`]+)`")


@frozen
class ManualEntry:
    """The manual's entry for a keyword: syntax, meaning, chapter."""

    written: str
    says: str
    chapter: str


@cache
def keywords() -> frozenset[str]:
    """The keywords in the grammar."""
    return frozenset(word for word in tables().words if word.isalpha())


@cache
def words() -> frozenset[str]:
    """Every word with a meaning in the language."""
    faults = (fault for known in NETWORK_FAULTS.values() for fault in known)
    return keywords() | {
        *FUNCTIONS,
        *COLLECTIONS,
        *MODES,
        *faults,
        *VERBS,
        *ROLES,
        LABEL,
        *WORDS,
        HIDDEN,
        "bool",
        "int",
    }


@cache
def manual() -> dict[str, tuple[ManualEntry, ...]]:
    """The manual's entries, by word."""
    text = resource("spec", "language.md")
    found: dict[str, list[ManualEntry]] = {}
    chapter = ""
    for line in text.splitlines():
        if line.startswith("#"):
            chapter = line.lstrip("# ")
        elif line.startswith("| `"):
            first, *rest = re.split(r"(?<!\\)\|", line.strip().strip("|"))
            entry = ManualEntry(
                first.strip(), "; ".join(cell.strip() for cell in rest if cell.strip()), chapter
            )
            for span in _SPAN.findall(first):
                for word in _meant(span):
                    found.setdefault(word, []).append(entry)
    return {word: tuple(dict.fromkeys(entries)) for word, entries in found.items()}


def _meant(span: str) -> list[str]:
    """The first word of the language in a code span of a table."""
    return [each for each in re.findall(r"[a-z_]+", span) if each in words()][:1]
