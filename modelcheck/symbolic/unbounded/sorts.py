"""Types whose values are one term: their sorts, the datatypes for these, and values of them in parts."""

from __future__ import annotations

from collections.abc import Sequence

import spec.ir as ir
import spec.types as t
from modelcheck.contract.inexpressible import Inexpressible
from modelcheck.symbolic.unbounded.terms import (
    BOOL,
    INT,
    Term,
    choice,
    made,
    selected,
    tested,
)
from spec.frozen import frozen


@frozen(eq=False)
class Flat:
    """A value that is one term."""

    term: Term
    type: t.Type


class Types:
    """The sorts of flat types, and the datatypes that they need, as a model declares them."""

    def __init__(self, model: ir.Model) -> None:
        self._unions = {union.name: union for union in model.unions}
        self._datatypes: dict[str, str] = {}  # by name, in the order in which they may be declared
        self._selectors: set[str] = set()

    def declarations(self) -> tuple[str, ...]:
        """The SMT-LIB declarations of the datatypes used so far."""
        return tuple(self._datatypes.values())

    def selectors(self) -> frozenset[str]:
        """The symbols that take parts out of datatypes."""
        return frozenset(self._selectors)

    def whole(self, of: t.Type) -> t.Type:
        """The union of a case; any other type as it is."""
        return self._unions[of.union] if isinstance(of, t.Case) else of

    def is_flat(self, of: t.Type) -> bool:
        """Whether a value of the type is one term wherever it stands."""
        match self.whole(of):
            case t.Bool() | t.Int() | t.Range() | t.Nat() | t.Enum() | t.Sort():
                return True
            case t.Option(inner):
                return isinstance(inner, t.UnknownType) or self.is_element(inner)
            case t.Record(_, fields):
                return all(self.is_flat(field.type) for field in fields)
            case t.Tuple(items):
                return all(map(self.is_flat, items))
            case t.Union(_, cases):
                return all(self.is_element(field.type) for case in cases for field in case.fields)
            case _:
                return False

    def is_element(self, of: t.Type) -> bool:
        """Whether a value of the type is one term inside a set, an option or a message."""
        match self.whole(of):
            case t.Set(inner):
                return self.is_element(inner)
            case t.Record(_, fields):
                return all(self.is_element(field.type) for field in fields)
            case t.Tuple(items):
                return all(map(self.is_element, items))
            case whole:
                return self.is_flat(whole)

    def sort(self, of: t.Type) -> str:
        """The sort of the terms of a type that can be an element; its datatype is declared if it is new."""
        match self.whole(of):
            case t.Bool():
                return BOOL
            case t.Int() | t.Range() | t.Nat():
                return INT
            case t.Sort(name):
                return f"|{name}|"
            case t.Enum(name, members):
                return self._declared(name, [(self.member(name, each), []) for each in members])
            case t.Set(inner) if not isinstance(inner, t.UnknownType):
                sort = self.sort(inner)
                name = f"set {sort.strip('|')}"
                self._datatypes.setdefault(name, f"(define-sort |{name}| () (Array {sort} Bool))")
                return f"|{name}|"
            case t.Option(inner) if not isinstance(inner, t.UnknownType):
                sort = self.sort(inner)
                name = f"{sort.strip('|')}?"
                return self._declared(name, [(f"none {name}", []), (f"some {name}", [("the " + name, sort)])])
            case t.Record(name, fields):
                return self._declared(
                    name, [(name, [(f"{name}.{f.name}", self.sort(f.type)) for f in fields])]
                )
            case t.Tuple(items):
                sorts = [self.sort(item) for item in items]
                name = f"({' '.join(sort.strip('|') for sort in sorts)})"
                return self._declared(name, [(name, [(f"{name}.{i}", s) for i, s in enumerate(sorts)])])
            case t.Union(name, cases):
                parts = [
                    (f"{name}.{c.name}", [(f"{name}.{c.name}.{f.name}", self.sort(f.type)) for f in c.fields])
                    for c in cases
                ]
                return self._declared(name, parts)
            case _:
                raise Inexpressible(f"{of} inside a set, bag, option or message")

    def _declared(self, name: str, cases: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> str:
        if name not in self._datatypes:
            each = [
                f"(|{case}|{''.join(f' (|{part}| {sort})' for part, sort in parts)})" for case, parts in cases
            ]
            self._selectors |= {f"|{part}|" for _, parts in cases for part, _ in parts}
            self._datatypes[name] = f"(declare-datatypes ((|{name}| 0)) (({' '.join(each)})))"
        return f"|{name}|"

    @staticmethod
    def member(enum: str, name: str) -> str:
        """The constructor of an enum's member."""
        return f"{enum}.{name}"

    # ------------------------------------------------------------------- values

    def some(self, value: Flat, of: t.Option) -> Flat:
        """An option with a value."""
        sort = self.sort(of)
        return Flat(made(f"some {sort.strip('|')}", (value.term,), sort), of)

    def none(self, of: t.Option) -> Flat:
        """An option without one."""
        sort = self.sort(of)
        return Flat(made(f"none {sort.strip('|')}", (), sort), of)

    def is_some(self, option: Flat) -> Term:
        """Whether an option has a value."""
        name = self.sort(option.type).strip("|")
        return tested(option.term, f"some {name}")

    def the(self, option: Flat) -> Flat:
        """The value of an option that has one."""
        assert isinstance(option.type, t.Option)
        name = self.sort(option.type).strip("|")
        inner = option.type.of
        return Flat(selected(option.term, f"some {name}", f"the {name}", 0, self.sort(inner)), inner)

    def case_test(self, of: Flat, case: int) -> Term:
        """Whether a union's value is a case."""
        union = self.whole(of.type)
        assert isinstance(union, t.Union)
        self.sort(union)
        return tested(of.term, f"{union.name}.{union.cases[case].name}")

    def part(self, of: Flat, index: int, case: int | None) -> Flat:
        """A field of a record, an item of a tuple, a field of a union's case (of any, for None)."""
        whole = self.whole(of.type)
        sort = self.sort(whole)
        match whole:
            case t.Record(name, fields):
                field = fields[index]
                term = selected(of.term, name, f"{name}.{field.name}", index, self.sort(field.type))
                return Flat(term, field.type)
            case t.Tuple(items):
                name = sort.strip("|")
                return Flat(
                    selected(of.term, name, f"{name}.{index}", index, self.sort(items[index])), items[index]
                )
            case t.Union():
                return self._of_case(of, whole, index, case)
            case _:
                raise Inexpressible(f"a part of {whole}")

    def _of_case(self, of: Flat, union: t.Union, index: int, case: int | None) -> Flat:
        if case is None:
            first, *others = [self._of_case(of, union, index, i) for i in reversed(range(len(union.cases)))]
            term = first.term
            for at, other in zip(reversed(range(len(union.cases) - 1)), others, strict=True):
                term = choice(self.case_test(of, at), other.term, term)
            return Flat(term, first.type)
        found = union.cases[case]
        field = found.fields[index]
        maker = f"{union.name}.{found.name}"
        term = selected(of.term, maker, f"{maker}.{field.name}", index, self.sort(field.type))
        return Flat(term, field.type)

    def made(self, parts: Sequence[Flat], of: t.Type, case: int | None) -> Flat:
        """A record, tuple or case of a union from flat parts."""
        whole = self.whole(of)
        sort = self.sort(whole)
        name = sort.strip("|")
        if isinstance(whole, t.Union):
            assert case is not None
            name = f"{whole.name}.{whole.cases[case].name}"
        return Flat(made(name, [part.term for part in parts], sort), whole)
