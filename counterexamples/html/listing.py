"""A long table that the reader sorts and filters: its first rows as HTML, and all as data for the script."""

from __future__ import annotations

import json
from collections.abc import Sequence

from counterexamples.lines import Role, clean
from spec.frozen import frozen

SHOWN = 200  # rows in the page at a time: a browser lays out thousands of rows in seconds


@frozen
class ListCell:
    """A cell: its text, its colour, and what it is sorted by, the gravest lowest."""

    text: str
    role: Role = Role.PLAIN
    order: float = 0.0


@frozen
class ListKind:
    """What several rows have in common: their cells, and the tags that filters look for."""

    cells: tuple[ListCell, ...]
    tags: tuple[str, ...] = ()


@frozen
class ListFilter:
    """A choice of rows: `options` are tags with their words, under a heading each (empty for none)."""

    name: str
    title: str
    options: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]


@frozen
class Listing:
    """A table of many rows, in their usual order: each has a name, and cells that it shares with others.

    `columns` are the titles of the names and of the cells; `searched` are the columns that the filter by
    text looks at besides the name, by their places among the cells.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ListKind], ...]
    usual: str
    filters: tuple[ListFilter, ...] = ()
    searched: tuple[int, ...] = ()
    note: str = ""

    @property
    def first(self) -> Sequence[tuple[str, ListKind]]:
        """The rows that a page shows at first, and all that it shows without a script."""
        return self.rows[:SHOWN]

    def data(self) -> str:
        """The rows as JSON data in a page; equal kinds are there once, so it grows by a few bytes a row."""
        places: dict[ListKind, int] = {}
        rows = [(clean(name), places.setdefault(kind, len(places))) for name, kind in self.rows]
        kinds = [
            {
                "cells": [[clean(each.text), each.role.name.lower(), each.order] for each in kind.cells],
                "tags": kind.tags,
            }
            for kind in places
        ]
        data = {"shown": SHOWN, "searched": self.searched, "kinds": kinds, "rows": rows}
        text = json.dumps(data, separators=(",", ":"))
        return text.replace("<", "\\u003c")  # no element can end or begin in it
