"""How large a state is, for people who have to read it: what is worth making small, most important first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import spec.model.types as t
from modelcheck.grounding.machine import GroundMachine
from modelcheck.grounding.shapes import Heap, Listed, Maybe, Parts, Row, Shape, Tagged
from modelcheck.grounding.terms import GroundTerm, Sign
from spec.model.ir import Model


def measures(model: Model, machine: GroundMachine) -> Iterator[GroundTerm]:
    """The terms to minimize for a small state, most important first."""
    terms = machine.terms
    start = machine.starts[0] if machine.starts else (0,) * len(machine.flats)
    changed = {
        flat: _differs(machine, flat, start[flat.value])
        for shape in machine.stored
        for flat in _variables(shape)
    }
    owned: dict[tuple[str, int], list[GroundTerm]] = {}
    for variable, shape in zip(model.variables, machine.stored, strict=True):
        if variable.owner is not None and isinstance(shape, Parts):
            for member, part in enumerate(shape.parts):
                own = owned.setdefault((variable.owner, member), [])
                own += [changed[flat] for flat in _variables(part)]
    pairs = list(zip(model.variables, machine.stored, strict=True))
    yield _sum(machine, [terms.count(terms.any(tests)) for tests in owned.values()])
    yield _sum(machine, [n for v, shape in pairs if v.network for n in _sizes(machine, v.type, shape)])
    yield _sum(machine, [n for v, shape in pairs if not v.network for n in _sizes(machine, v.type, shape)])
    yield _sum(machine, [terms.count(test) for test in changed.values()])


def _differs(machine: GroundMachine, flat: GroundTerm, value: int) -> GroundTerm:
    """The term that a flat variable differs from its initial value."""
    terms = machine.terms
    known = terms.bool(is_true=bool(value)) if flat.truth else terms.number(value)
    return terms.no(terms.eq(flat, known))


def _sum(machine: GroundMachine, numbers: Sequence[GroundTerm]) -> GroundTerm:
    """The sum of the numbers."""
    total = machine.terms.number(0)
    for number in numbers:
        total = machine.terms.add(total, number)
    return total


def _parts(shape: Shape) -> Iterator[Shape]:
    """The components of a shape."""
    match shape:
        case GroundTerm():
            yield from shape.args
        case Maybe(has, value):
            yield has
            if value is not None:
                yield value
        case Parts(parts):
            yield from parts
        case Tagged(tag, cases):
            yield tag
            for fields in cases.values():
                yield from fields
        case Row(length, slots):
            yield from (length, *slots)
        case Heap(held):
            yield from (has for has, _ in held.values())
        case Listed(places):
            yield from (part for place in places for part in place)


def _variables(shape: Shape) -> list[GroundTerm]:
    """The flat variables of a stored shape, each once."""
    if isinstance(shape, GroundTerm) and shape.sign is Sign.VAR:
        return [shape]
    return list(dict.fromkeys(flat for part in _parts(shape) for flat in _variables(part)))


def _sizes(machine: GroundMachine, of: t.Type, shape: Shape) -> Iterator[GroundTerm]:
    """The sizes of the sequences, and of the sets and bags whose members are no plain members of a sort."""
    match of, shape:
        case t.Seq(), Row(length, _):
            yield length
        case t.Set(t.Sort()), _:
            return
        case ((t.Set() | t.Bag()), Heap(held)):
            for has, _ in held.values():
                yield has if not has.truth else machine.terms.count(has)
        case t.Map(_, inner), Parts(parts):
            for part in parts:
                yield from _sizes(machine, inner, part)
        case t.Record(_, fields), Parts(parts):
            for field, part in zip(fields, parts, strict=True):
                yield from _sizes(machine, field.type, part)
        case _:
            return
