"""Lines on a terminal, in its colours."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TextIO

from rich.console import Console
from rich.text import Text

from counterexamples.lines import Line, clean

BATCH = 200  # lines handed to the console at once


def put(lines: Iterable[Line], stream: TextIO) -> None:
    """Print lines to a stream, in colour and Unicode as far as it supports them."""
    console = Console(file=stream, highlight=False)
    ascii_only = not console.encoding.lower().startswith("utf")
    rest = iter(lines)
    while batch := list(islice(rest, BATCH)):
        text = Text(no_wrap=True, end="")
        for pieces in batch:
            for piece in pieces:
                text.append(clean(piece.text, ascii_only=ascii_only), piece.role.value)
            text.append("\n")
        console.print(text, soft_wrap=True, end="")
