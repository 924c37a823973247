"""Types whose values are one term: their sorts, the datatypes for these, and values of them in parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

import spec.model.ir as ir
import spec.model.types as t
from modelcheck.contract.inexpressible import Inexpressible
from modelcheck.symbolic.unbounded.terms import (
    BOOL,
    INT,
    SmtTerm,
    choice,
    made,
    selected,
    tested,
)
from spec.frozen import frozen

DEFINED = frozenset(  # the sorts that SMT-LIB and Z3 define
    "Array BitVec Bool Char Complex FiniteSet Float16 Float32 Float64 Float128 FloatingPoint Int List Map"
    " Option Pair Proof Real RegEx RegLan RoundingMode Seq Set String StringSequence Unicode".split()
)


@frozen(eq=False)
class Flat:
    """A value that is a single term, with its type."""

    term: SmtTerm
    type: t.Type


def sort_named(name: str) -> str:
    """The SMT-LIB sort for a type of the model, renamed if solvers reserve the name."""
    return f"|{name} of the model|" if name in DEFINED else f"|{name}|"


def flat(term: SmtTerm) -> Flat:
    """A Boolean or number as a value."""
    return Flat(term, t.BOOL if term.sort == BOOL else t.INT)


WithDatatype = t.Enum | t.Option | t.Record | t.Tuple | t.Union


@frozen
class Maker:
    """A constructor of an SMT-LIB datatype, with the name and the type of each part."""

    name: str
    parts: tuple[tuple[str, t.Type], ...]


@frozen
class Datatype:
    """An SMT-LIB datatype: its sort and its constructors."""

    sort: str
    makers: tuple[Maker, ...]


class Types:
    """The sorts of flat types, and the datatypes declared for them."""

    def __init__(self, model: ir.Model) -> None:
        self._unions = {union.name: union for union in model.unions}
        self._datatypes: dict[str, str] = {}  # by name, in the order in which they may be declared
        self._selectors: set[str] = set()
        self._endless: set[str] = set()
        self._made: dict[t.Type, Datatype] = {}

    def declarations(self) -> tuple[str, ...]:
        """The SMT-LIB declarations of the datatypes used so far."""
        return tuple(self._datatypes.values())

    def selectors(self) -> frozenset[str]:
        """The selector symbols of the datatypes."""
        return frozenset(self._selectors)

    def is_endless(self, sort: str) -> bool:
        """Whether a sort has more values than its type: infinite sets of numbers (NOTE(endless))."""
        return sort in self._endless

    def whole(self, of: t.Type) -> t.Type:
        """The union of a case; any other type as it is."""
        return self._unions[of.union] if isinstance(of, t.Case) else of

    def is_flat(self, of: t.Type) -> bool:
        """Whether every value of the type is kept as a single term."""
        whole = self.whole(of)
        if isinstance(whole, t.Record | t.Tuple):
            return all(map(self.is_flat, t.parts(whole)))
        return not isinstance(whole, t.Set) and self.is_element(whole)

    def has_numbers(self, of: t.Type) -> bool:
        """Whether values of a type contain numbers."""
        return any(isinstance(part, t.Int | t.Range | t.Nat) for part in t.walk_type(self.whole(of)))

    def is_element(self, of: t.Type) -> bool:
        """Whether a value of the type can be a single term as an element of a set, option or message."""
        match self.whole(of):
            case t.Option(t.UnknownType()):
                return True
            case t.Seq() | t.Bag() | t.Map() | t.UnknownType():
                return False
            case t.Union(_, cases):
                return all(self.is_element(part) for case in cases for part in t.parts(case))
            case whole:
                return all(map(self.is_element, t.parts(whole)))

    def sort(self, of: t.Type) -> str:
        """The sort of the terms of an element type; its datatype is declared if it is new."""
        match self.whole(of):
            case t.Bool():
                return BOOL
            case t.Int() | t.Range() | t.Nat():
                return INT
            case t.Sort(name):
                return sort_named(name)
            case t.Set(inner) if not isinstance(inner, t.UnknownType):
                sort = self.sort(inner)
                name = f"set {sort.strip('|')}"
                self._datatypes.setdefault(name, f"(define-sort |{name}| () (Array {sort} Bool))")
                if self.has_numbers(inner):
                    self._endless.add(f"|{name}|")
                return f"|{name}|"
            case t.Enum() | t.Option() | t.Record() | t.Tuple() | t.Union() as whole:
                return self._datatype(whole).sort
            case _:
                raise Inexpressible(f"{of} inside a set, bag, option or message")

    def _datatype(self, of: t.Type) -> Datatype:
        """The datatype of a type, which is declared if it is new.

        Types that differ in the ranges of their numbers have one datatype, but parts of their own.
        """
        found = self._made.get(of)  # asked once: types have long hashes
        if found is None:
            if not isinstance(of, WithDatatype):
                raise Inexpressible(f"a part of {of}")
            name = self._name(of)
            found = Datatype(sort_named(name), tuple(_constructors(name, of)))
            if not found.makers:
                raise Inexpressible(f"a value of {of}, which has no case")
            if name not in self._datatypes:
                self._declare(name, found)
            self._made[of] = found
        return found

    def _declare(self, name: str, datatype: Datatype) -> None:
        """Declare a datatype."""
        makers = datatype.makers
        cases = [(maker.name, [(part, self.sort(kind)) for part, kind in maker.parts]) for maker in makers]
        each = [
            f"(|{case}|{''.join(f' (|{part}| {sort})' for part, sort in parts)})" for case, parts in cases
        ]
        self._selectors |= {f"|{part}|" for _, parts in cases for part, _ in parts}
        if any(self.is_endless(sort) for _, parts in cases for _, sort in parts):
            self._endless.add(datatype.sort)
        self._datatypes[name] = f"(declare-datatypes (({datatype.sort} 0)) (({' '.join(each)})))"

    def _name(self, of: WithDatatype) -> str:
        """The name of a type's datatype."""
        match of:
            case t.Option(t.UnknownType()):
                raise Inexpressible(f"{of} inside a set, bag, option or message")
            case t.Option(inner):
                return f"{self.sort(inner).strip('|')}?"
            case t.Tuple(items):
                return f"({' '.join(self.sort(item).strip('|') for item in items)})"
            case _:
                return of.name

    # ------------------------------------------------------------------- values

    def made(self, parts: Sequence[Flat], of: t.Type, case: int | None = None) -> Flat:
        """A record, tuple or case of a union from its parts."""
        whole = self.whole(of)
        datatype = self._datatype(whole)
        maker = datatype.makers[case or 0].name
        return Flat(made(maker, [part.term for part in parts], datatype.sort), whole)

    def some(self, value: Flat, of: t.Option) -> Flat:
        """The option with this value."""
        return self.made([value], of, 1)

    def none(self, of: t.Option) -> Flat:
        """The option without a value."""
        return self.made([], of, 0)

    def is_some(self, option: Flat) -> SmtTerm:
        """The formula that an option has a value."""
        return self.case_test(option, 1)

    def the(self, option: Flat) -> Flat:
        """The value of an option, which must have one."""
        return self.part(option, 0, 1)

    def case_test(self, of: Flat, case: int) -> SmtTerm:
        """The formula that a value is of a case of its union."""
        return tested(of.term, self._datatype(self.whole(of.type)).makers[case].name)

    def part(self, of: Flat, index: int, case: int | None) -> Flat:
        """A part of a record or tuple, or of a case of a union (of any case if None)."""
        whole = self.whole(of.type)
        if isinstance(whole, t.Union) and case is None:
            return self._of_any_case(of, whole, index)
        maker = self._datatype(whole).makers[case or 0]
        name, kind = maker.parts[index]
        return Flat(selected(of.term, maker.name, name, index, self.sort(kind)), kind)

    def _of_any_case(self, of: Flat, union: t.Union, index: int) -> Flat:
        """The part at an index of a union's value, selected by a chain of tests for its case."""
        *others, last = [self.part(of, index, case) for case in range(len(union.cases))]
        term = last.term
        for case, other in reversed(list(enumerate(others))):
            term = choice(self.case_test(of, case), other.term, term)
        return Flat(term, last.type)

    def parts(self, of: Flat, case: int | None = None) -> list[Flat]:
        """All parts of a record or tuple, or of a case of a union."""
        return [self.part(of, index, case) for index in range(len(kinds(self.whole(of.type), case)))]


def kinds(of: t.Type, case: int | None) -> tuple[t.Type, ...]:
    """The types of the parts of a record or tuple, or of a case of a union."""
    match of:
        case t.Union(_, cases) if case is not None:
            return t.parts(cases[case])
        case t.Option(inner):
            return (inner,) if case else ()
        case _:
            return t.parts(of)


def _constructors(name: str, of: WithDatatype) -> list[Maker]:
    """The constructors of a datatype: one for each case; for an option, none and some."""
    match of:
        case t.Enum(_, members):
            return [Maker(f"{name}.{member}", ()) for member in members]
        case t.Option(inner):
            return [Maker(f"none {name}", ()), Maker(f"some {name}", ((f"the {name}", inner),))]
        case t.Record(_, fields):
            return [_with_fields(name, fields)]
        case t.Tuple(items):
            return [Maker(name, tuple((f"{name}.{at}", item) for at, item in enumerate(items)))]
        case t.Union(_, cases):
            return [_with_fields(f"{name}.{case.name}", case.fields) for case in cases]
        case _:
            assert_never(of)


def _with_fields(name: str, fields: Sequence[t.Field]) -> Maker:
    """The constructor of a record or case."""
    return Maker(name, tuple((f"{name}.{field.name}", field.type) for field in fields))
