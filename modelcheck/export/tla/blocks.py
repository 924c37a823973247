"""What the statements of an action become: definitions, conditions, changes, choices.

A block is a list of items that ends in an end: of a step, or of one round of a
loop.  Definitions are lazy in TLA+, so they may all come first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

import modelcheck.export.tla.terms as tla
from modelcheck.export.tla.terms import TlaTerm
from spec.formatting.documents import LINE, Doc, Nest, cat
from spec.frozen import frozen


@frozen
class Definition:
    """A LET definition in a block, as text."""

    text: Doc


@frozen
class Condition:
    """A condition of the step in a block."""

    test: TlaTerm


@frozen
class NextValue:
    """The assignment `name' = value` in a block (`name = value` in initial states)."""

    name: str
    value: TlaTerm


@frozen
class MemberChoice:
    """An existential choice in a block; what follows is in its inner block."""

    name: str
    domain: TlaTerm
    then: TlaBlock


@frozen
class Split:
    """An IF with two blocks."""

    test: TlaTerm
    then: TlaBlock
    other: TlaBlock


@frozen
class StepEnd:
    """The end of a step in a block: final conditions, and unchanged variables.

    Of a round of a loop: the values of what the loop changes, by field.
    """

    conditions: tuple[TlaTerm, ...] = ()
    unchanged: tuple[str, ...] = ()
    values: Mapping[str, TlaTerm] = field(default_factory=dict)


Item = Definition | Condition | NextValue | MemberChoice | Split | StepEnd


TlaBlock = list[Item]  # in order; the last is a choice, a split or an end


def conjuncts(block: Sequence[Item]) -> list[Doc]:
    """The conjuncts of a block as an action formula."""
    found: list[Doc] = []
    for place, item in enumerate(block):
        match item:
            case Definition():
                texts, rest = _parted(block[place:])
                return [*found, tla.let(texts, as_action(rest))]
            case Condition(test):
                found.append(test.doc)
            case NextValue(name, value):
                found.append(_changed(name, value))
            case MemberChoice(name, domain, then):
                head = cat(r"\E ", tla.bound_in(name, domain), " :")
                found.append(cat(head, Nest(2, cat(LINE, as_action(then)))))
            case Split(test, then, other):
                found.append(tla.split(test, as_action(then), as_action(other)))
            case StepEnd(conditions, unchanged):
                found += [test.doc for test in conditions]
                if unchanged:
                    names = cat(*unchanged) if len(unchanged) == 1 else tla.names(unchanged)
                    found.append(cat("UNCHANGED ", Nest(10, names)))
    return found


def as_action(block: Sequence[Item]) -> Doc:
    """A block as one action formula."""
    return conjunction(conjuncts(block))


def conjunction(parts: Sequence[Doc]) -> Doc:
    """A bulleted conjunction; a single part as it is; TRUE for none."""
    if len(parts) < 2:
        return parts[0] if parts else tla.TRUE.doc
    return tla.bullets("/\\", parts)


def as_set(block: Sequence[Item]) -> TlaTerm:
    """A block as the set of its possible results, as records."""
    first, *rest = block
    match first:
        case Definition():
            texts, others = _parted(block)
            return tla.let_term(texts, as_set(others))
        case Condition(test):
            return tla.choice(test, as_set(rest), tla.a_set(()))
        case MemberChoice(name, domain, then):
            return tla.union_of(name, domain, as_set(then))
        case Split(test, then, other):
            return tla.choice(test, as_set(then), as_set(other))
        case StepEnd(values=values):
            return tla.a_set([tla.a_record(values.items())])
        case NextValue():
            raise TypeError("within an expression nothing changes")


def _parted(items: Sequence[Item]) -> tuple[list[Doc], list[Item]]:
    """The texts of the definitions, and the other items."""
    texts = [item.text for item in items if isinstance(item, Definition)]
    return texts, [item for item in items if not isinstance(item, Definition)]


def _changed(name: str, value: TlaTerm) -> Doc:
    """The formula `name = value`."""
    doc = value.doc if value.level == tla.OPEN else tla.within(value, tla.RELATION + 1)
    return cat(f"{name} = ", Nest(len(name) + 3, doc))
