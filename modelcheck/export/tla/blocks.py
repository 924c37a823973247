"""What the statements of an action become: definitions, conditions, changes, choices.

A block is a list of items that ends in an end: of a step, or of one round of a
loop.  Definitions are lazy in TLA+, so they may all stand in front.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import modelcheck.export.tla.terms as tla
from modelcheck.export.tla.terms import TlaTerm
from spec.frozen import frozen
from spec.pretty import LINE, Doc, Nest, cat


@frozen
class Definition:
    """A name for something, `text` as it stands after LET."""

    text: Doc


@frozen
class Condition:
    """What must be true for the step to happen."""

    test: TlaTerm


@frozen
class NextValue:
    """The new value of a variable: `name'`, or `name` in the initial states."""

    name: str
    value: TlaTerm


@frozen
class MemberChoice:
    """One branch for each member of a domain; what follows stands in the block."""

    name: str
    domain: TlaTerm
    test: TlaTerm | None
    then: TlaBlock


@frozen
class Split:
    """Two blocks, by a test."""

    test: TlaTerm
    then: TlaBlock
    other: TlaBlock


@frozen
class StepEnd:
    """The end of a step: the conditions last asked, and what stays as it is.

    Of a round of a loop: the values of what the loop changes, by field.
    """

    conditions: tuple[TlaTerm, ...] = ()
    unchanged: tuple[str, ...] = ()
    values: Mapping[str, TlaTerm] = field(default_factory=dict)


Item = Definition | Condition | NextValue | MemberChoice | Split | StepEnd


@dataclass(slots=True)
class TlaBlock:
    """Items in order; the last is a choice, a split or an end."""

    items: list[Item] = field(default_factory=list)


def conjuncts(block: TlaBlock) -> list[Doc]:
    """A block as a predicate on steps: what must hold of one."""
    return _conjuncts(block.items)


def as_action(block: TlaBlock) -> Doc:
    """The same as one piece."""
    return conjunction(conjuncts(block))


def conjunction(parts: Sequence[Doc]) -> Doc:
    """A list with bullets; a single part as it is; without any, what is always true."""
    if not parts:
        return tla.TRUE.doc
    return parts[0] if len(parts) == 1 else tla.bullets("/\\", parts)


def _conjuncts(items: Sequence[Item]) -> list[Doc]:
    found: list[Doc] = []
    for place, item in enumerate(items):
        match item:
            case Definition():
                rest = [other for other in items[place:] if not isinstance(other, Definition)]
                texts = [other.text for other in items[place:] if isinstance(other, Definition)]
                found.append(tla.let(texts, conjunction(_conjuncts(rest))))
                return found
            case Condition(test):
                found.append(test.doc)
            case NextValue(name, value):
                found.append(_changed(name, value))
            case MemberChoice(name, domain, test, then):
                kept = domain if test is None else tla.those(name, domain, test)
                head = cat(rf"\E {name} \in ", tla.within(kept, tla.RELATION + 1), " :")
                found.append(cat(head, Nest(2, cat(LINE, as_action(then)))))
            case Split(test, then, other):
                found.append(_split(test, as_action(then), as_action(other)))
            case StepEnd(conditions, unchanged):
                found += [test.doc for test in conditions]
                found += _unchanged(unchanged)
    return found


def _changed(name: str, value: TlaTerm) -> Doc:
    """`name = value`; what reaches to the right as far as it can needs no parentheses here."""
    doc = value.doc if value.level == tla.OPEN else tla.within(value, tla.RELATION + 1)
    return cat(f"{name} = ", Nest(len(name) + 3, doc))


def _split(test: TlaTerm, then: Doc, other: Doc) -> Doc:
    return cat("IF ", Nest(3, test.doc), LINE, "THEN ", Nest(5, then), LINE, "ELSE ", Nest(5, other))


def _unchanged(names: Sequence[str]) -> list[Doc]:
    if len(names) == 1:
        return [cat(f"UNCHANGED {names[0]}")]
    return [cat("UNCHANGED ", Nest(10, tla.names(names)))] if names else []


def as_set(block: TlaBlock) -> TlaTerm:
    """A block as the set of its possible results: records."""
    return _set_of(block.items)


def _set_of(items: Sequence[Item]) -> TlaTerm:
    first, *rest = items
    match first:
        case Definition():
            others = [other for other in items if not isinstance(other, Definition)]
            texts = [other.text for other in items if isinstance(other, Definition)]
            return tla.let_term(texts, _set_of(others))
        case Condition(test):
            return tla.choice(test, _set_of(rest), tla.a_set(()))
        case MemberChoice(name, domain, test, then):
            kept = domain if test is None else tla.those(name, domain, test)
            return TlaTerm(cat("UNION ", tla.each(name, kept, as_set(then)).doc), tla.SETS)
        case Split(test, then, other):
            return tla.choice(test, as_set(then), as_set(other))
        case StepEnd(_, _, values):
            return tla.a_set([tla.a_record(values.items())])
        case NextValue():
            raise TypeError("within an expression nothing changes")
