"""The table of guarantees and kinds of faults, with the number of faults that are survived in each cell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from counterexamples.lines import Line, Piece, Role, line, wrapped
from modelcheck.kafka.questions.answers import Answer
from modelcheck.kafka.questions.question import GUARANTEES
from modelcheck.kafka.report.wording import cell, legend

NAMES = tuple(guarantee.name for guarantee in GUARANTEES)
OfCell = Callable[[str, str], Answer | None]  # the answer for a guarantee and a kind of fault


def heads() -> Iterator[Piece]:
    """The heads of the columns of guarantees."""
    return (Piece(f"{name}  ", Role.STRONG) for name in NAMES)


def cells(answers: Iterable[Answer | None]) -> Iterator[Piece]:
    """The cells of a row, below `heads`."""
    for name, answer in zip(NAMES, answers, strict=True):
        text, role = cell(answer)
        yield Piece(f"{text:<{len(name) + 2}}", role)


def table(title: str, rows: Mapping[str, str], answer: OfCell, width: int, *, indent: str) -> Iterator[Line]:
    """The table as text: `rows` are the kinds of faults with their descriptions."""
    first = max(map(len, rows))
    yield line(indent, Piece(title, Role.STRONG))
    yield line(f"{indent}{' ' * (first + 4)}", *heads())
    for kind, says in rows.items():
        label = line(f"{indent}  {kind:<{first}}  ", *cells(answer(name, kind) for name in NAMES))
        yield from wrapped(label, says, max(width, 90), Role.DIM)
    if notes := legend(cell(answer(name, kind))[0] for name in NAMES for kind in rows):
        yield from wrapped(line(f"{indent}  "), "; ".join(notes), width, Role.DIM)
    yield ()
