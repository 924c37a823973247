"""What `library list` and `library show` have in common: a protocol as lines, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from counterexamples.lines import Line, Piece, Role, line, packed, wrapped
from spec.library import Shipped
from spec.model.ir import Expect, ExpectCount, ExpectTaken, ExpectVerdict

LABEL = 13  # columns before what a label is of


def head(found: Shipped, width: int) -> Iterator[Line]:
    """The lines on a protocol's subject and variants."""
    yield from wrapped(line(Piece(f"{found.name}  ", Role.STRONG)), found.title, width)
    yield from listed(label("variants"), found.variants, width)


def listed(label: Line, items: Sequence[str], width: int) -> Iterator[Line]:
    """The items separated by commas after a label; empty without items."""
    if items:
        commas = [line(f"{item},") for item in items[:-1]]
        yield from packed(label, [*commas, line(items[-1])], width, Piece(" "))


def label(words: str) -> Line:
    """Words padded to the column of labels."""
    return line(Piece(f"  {words:<{LABEL - 2}}", Role.DIM))


def as_json(found: Shipped) -> dict[str, object]:
    """A protocol as JSON data."""
    return {
        "name": found.name,
        "title": found.title,
        "variants": list(found.variants),
        "checks": [
            {
                "name": each.name,
                "of": each.of,
                "says": each.says,
                "expect": [_expectation(e) for e in each.expect],
            }
            for each in found.questions
        ],
    }


def _expectation(expected: Expect) -> dict[str, object]:
    """An expectation as JSON data."""
    match expected:
        case ExpectVerdict(name, holds=True, any_faults=any_faults):
            return {"property": name, "verdict": "holds", "any_faults": any_faults}
        case ExpectVerdict(name, faults=faults, steps=steps):
            return {"property": name, "verdict": "violated", "faults": faults, "steps": steps}
        case ExpectTaken(action, number):
            return {"count": "taken", "action": action, "is": number}
        case ExpectCount(what, number, faults):
            return {"count": what, "within_faults": faults, "is": number}
