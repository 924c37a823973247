"""The table of guarantees and kinds of faults, with the number of faults that are survived in each cell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from counterexamples.lines import Line, Piece, Role, line, wrapped
from modelcheck.kafka.questions.answers import Answer
from modelcheck.kafka.questions.question import GUARANTEES
from modelcheck.kafka.report.wording import cell, legend

NAMES = tuple(guarantee.name for guarantee in GUARANTEES)
OfCell = Callable[[str, str], Answer | None]  # the answer for a guarantee and a kind of fault


def table(title: str, rows: Mapping[str, str], answer: OfCell, width: int, *, indent: str) -> Iterator[Line]:
    """The table as text: `rows` are the kinds of faults with their descriptions."""
    first = max(map(len, rows))
    yield line(indent, Piece(title, Role.STRONG))
    yield line(f"{indent}{' ' * (first + 4)}", *(Piece(f"{name}  ", Role.STRONG) for name in NAMES))
    for kind, says in rows.items():
        cells = [(cell(answer(name, kind)), len(name) + 2) for name in NAMES]
        pieces = (Piece(f"{text:<{size}}", role) for (text, role), size in cells)
        label = line(f"{indent}  {kind:<{first}}  ", *pieces)
        yield from wrapped(label, says, max(width, 90), Role.DIM)
    if notes := legend(cell(answer(name, kind))[0] for name in NAMES for kind in rows):
        yield from wrapped(line(f"{indent}  "), "; ".join(notes), width, Role.DIM)
    yield ()
