"""Terms of first-order logic as SMT-LIB 2 writes them, simplified while they are built."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import product

from spec.frozen import frozen

SortedVar = tuple[str, str]  # a name and its sort

BOOL, INT = "Bool", "Int"


@frozen
class SmtTerm:
    """A symbol applied to terms; a quantifier has the names that it binds in `binds`.

    The names that quantifiers bind are all different, so nothing is ever captured.
    """

    op: str
    args: tuple[SmtTerm, ...]
    sort: str
    binds: tuple[SortedVar, ...] = ()
    is_bound: bool = False  # a name that some quantifier binds
    is_made: bool = False  # a constructor of a datatype and its parts
    _hash: int = field(init=False, repr=False, compare=False)
    _free: tuple[SmtTerm, ...] | None = field(init=False, repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.op, self.args, self.sort, self.binds)))

    def __hash__(self) -> int:
        return self._hash

    @property
    def free_names(self) -> tuple[SmtTerm, ...]:
        """The bound names that are free in the term, in textual order."""
        found = self._free
        if found is None:
            found = self._free_names()
            object.__setattr__(self, "_free", found)  # quantifiers ask each part again
        return found

    def on(self, args: Sequence[SmtTerm]) -> SmtTerm:
        """The same symbol or quantifier applied to other arguments."""
        return SmtTerm(self.op, tuple(args), self.sort, self.binds, self.is_bound, self.is_made)

    def _free_names(self) -> tuple[SmtTerm, ...]:
        """The free names, computed from those of the arguments."""
        if not self.args:
            return (self,) if self.is_bound else ()
        names = dict.fromkeys(name for arg in self.args for name in arg.free_names)
        return tuple(name for name in names if (name.op, name.sort) not in self.binds)

    def __str__(self) -> str:
        inner = " ".join(map(str, self.args))
        if self.op == "!":
            return f"(! {self.args[0]} :pattern ({' '.join(map(str, self.args[1:]))}))"
        if self.binds:
            binds = " ".join(f"({name} {sort})" for name, sort in self.binds)
            return f"({self.op} ({binds}) {inner})"
        return f"({self.op} {inner})" if self.args else self.op


TRUE, FALSE = SmtTerm("true", (), BOOL), SmtTerm("false", (), BOOL)


def number(value: int) -> SmtTerm:
    """The term of an integer constant."""
    literal = SmtTerm(str(abs(value)), (), INT)
    return literal if value >= 0 else SmtTerm("-", (literal,), INT)


def value_of(term: SmtTerm) -> int | None:
    """The integer that a constant term denotes; None for another term."""
    if term.sort != INT:
        return None
    if not term.args and term.op.isdigit():
        return int(term.op)
    match term:
        case SmtTerm(op="-", args=(SmtTerm(op=digits, args=()),)) if digits.isdigit():
            return -int(digits)
        case _:
            return None


def apply(op: str, args: Sequence[SmtTerm], sort: str) -> SmtTerm:
    """A function symbol applied to arguments."""
    return SmtTerm(op, tuple(args), sort)


def made(maker: str, args: Sequence[SmtTerm], sort: str) -> SmtTerm:
    """A datatype constructor applied to its parts."""
    return SmtTerm(f"|{maker}|", tuple(args), sort, is_made=True)


def tested(term: SmtTerm, maker: str) -> SmtTerm:
    """The formula that a term was made by a constructor, simplified if its constructor is visible."""
    if term.is_made:
        return TRUE if term.op == f"|{maker}|" else FALSE
    if term.op == "ite" and any(arg.is_made for arg in term.args[1:]):
        return choice(term.args[0], tested(term.args[1], maker), tested(term.args[2], maker))
    return SmtTerm(f"(_ is |{maker}|)", (term,), BOOL)


def selected(term: SmtTerm, maker: str, part: str, index: int, sort: str) -> SmtTerm:
    """A part of a datatype term, simplified if its constructor is visible."""
    if term.op == f"|{maker}|":
        return term.args[index]
    if term.op == "ite" and any(arg.op == f"|{maker}|" for arg in term.args[1:]):
        test, *branches = term.args
        then, other = (selected(branch, maker, part, index, sort) for branch in branches)
        return choice(test, then, other)
    return SmtTerm(f"|{part}|", (term,), sort)


def empty_array(sort: str) -> SmtTerm:
    """The array that is false everywhere."""
    return SmtTerm(f"((as const {sort}) false)", (), sort)


def with_value(array: SmtTerm, value: SmtTerm) -> SmtTerm:
    """The array that is also true at one more value."""
    return SmtTerm("store", (array, value, TRUE), array.sort)


def in_array(array: SmtTerm, value: SmtTerm) -> SmtTerm:
    """The formula that an array of Booleans is true at a value, simplified if its values are visible."""
    if array == empty_array(array.sort):
        return FALSE
    if array.op == "store":
        return disjunction([equality(array.args[1], value), in_array(array.args[0], value)])
    return SmtTerm("select", (array, value), BOOL)


def is_of_arrays(term: SmtTerm) -> bool:
    """Whether a term is of the theory of arrays."""
    return term.op in {"select", "store"} or term.op.startswith("((as const")


def bound(name: str, sort: str) -> SmtTerm:
    """A variable that a quantifier binds."""
    return SmtTerm(name, (), sort, is_bound=True)


# ----------------------------------------------------------------------- logic


def conjunction(parts: Sequence[SmtTerm]) -> SmtTerm:
    """The conjunction of the parts."""
    return _joined("and", parts, TRUE, FALSE)


def disjunction(parts: Sequence[SmtTerm]) -> SmtTerm:
    """The disjunction of the parts."""
    return _joined("or", parts, FALSE, TRUE)


def _joined(op: str, parts: Sequence[SmtTerm], neutral: SmtTerm, decisive: SmtTerm) -> SmtTerm:
    """The conjunction or disjunction of the parts, without repeated and `neutral` ones.

    The part `decisive`, if present, is the result.
    """
    flat = [p for part in parts for p in (part.args if part.op == op else (part,)) if p != neutral]
    if decisive in flat:
        return decisive
    kept = tuple(dict.fromkeys(flat))
    return neutral if not kept else kept[0] if len(kept) == 1 else SmtTerm(op, kept, BOOL)


def negation(part: SmtTerm) -> SmtTerm:
    """The negation of a formula."""
    if part in {TRUE, FALSE}:
        return FALSE if part == TRUE else TRUE
    return part.args[0] if part.op == "not" else SmtTerm("not", (part,), BOOL)


def implication(left: SmtTerm, right: SmtTerm) -> SmtTerm:
    """The implication from left to right."""
    if TRUE in {left, right}:
        return right
    if left == FALSE:
        return TRUE
    return negation(left) if right == FALSE else SmtTerm("=>", (left, right), BOOL)


def equality(left: SmtTerm, right: SmtTerm) -> SmtTerm:
    """The equation of two terms, simplified for identical terms and for distinct constants."""
    if left.sort != right.sort:
        raise TypeError(f"{left.sort} is never {right.sort}")
    if left == right:
        return TRUE
    if left.sort == BOOL:
        for one, other in ((left, right), (right, left)):
            if one in {TRUE, FALSE}:
                return other if one == TRUE else negation(other)
    if value_of(left) is not None and value_of(right) is not None:
        return FALSE
    if left.is_made and right.is_made:
        if left.op != right.op:
            return FALSE
        return conjunction([equality(a, b) for a, b in zip(left.args, right.args, strict=True)])
    for one, other in ((left, right), (right, left)):
        if one.is_made and other.op == "ite" and all(arg.is_made for arg in other.args[1:]):
            test, then, otherwise = other.args
            return choice(test, equality(one, then), equality(one, otherwise))
    return SmtTerm("=", (left, right), BOOL)


def choice(test: SmtTerm, then: SmtTerm, other: SmtTerm) -> SmtTerm:
    """The term `then` if `test` is true, else `other`."""
    if test in {TRUE, FALSE} or then == other:
        return then if test != FALSE else other
    if then.sort == BOOL:
        if then == TRUE:
            return disjunction([test, other])
        if then == FALSE:
            return conjunction([negation(test), other])
        if other == FALSE:
            return conjunction([test, then])
        if other == TRUE:
            return implication(test, then)
    return SmtTerm("ite", (test, then, other), then.sort)


def quantified(
    quantifier: str, binds: Sequence[SmtTerm], body: SmtTerm, triggers: Sequence[SmtTerm] = ()
) -> SmtTerm:
    """The formula that the body is true for all, or some, values of those names that occur in it.

    Where all `triggers` occur somewhere a solver is to look at the body for their
    values; this guides it and means nothing.
    """
    free = frozenset(body.free_names)
    used = tuple((each.op, each.sort) for each in binds if each in free)
    if not used:
        return body
    if triggers:
        return SmtTerm(quantifier, (SmtTerm("!", (body, *triggers), BOOL),), BOOL, used)
    if body.op == quantifier and body.args[0].op != "!":
        return SmtTerm(quantifier, body.args, BOOL, used + body.binds)
    return SmtTerm(quantifier, (body,), BOOL, used)


MOST_WAYS = 16  # in which one implication may come about before it is left as it is


def split(term: SmtTerm) -> tuple[SmtTerm, ...]:
    """Formulas whose conjunction is equivalent to the term, as smaller units for the solver.

    But not where a smaller one would only count with what a quantifier binds: then a
    solver would not know for which values to look at it.
    """
    match term:
        case SmtTerm(op="and", args=parts):
            return tuple(each for part in parts for each in split(part))
        case SmtTerm(op="forall", args=(body,)) if body.op != "!":
            names = [SmtTerm(name, (), sort, is_bound=True) for name, sort in term.binds]
            parts = split(body)
            if not all(
                _is_looked_at(part, name) for part in parts for name in names if name in part.free_names
            ):
                return (term,)
            return tuple(quantified("forall", names, each) for each in parts)
        case SmtTerm(op="=>", args=(left, right)):
            disjuncts, ends = _disjuncts(left), split(right)
            if len(disjuncts) * len(ends) > MOST_WAYS:
                return (term,)
            return tuple(_implied(way, end) for way in disjuncts for end in ends)
        case _:
            return (term,)


def _is_looked_at(term: SmtTerm, name: SmtTerm) -> bool:
    """Whether a name occurs in an equation, or under a function symbol that is not arithmetic."""
    if term.op == "=" and name in term.args:
        return True
    if term.op[0] == "|" or term.op == "select":
        return name in term.free_names
    return any(_is_looked_at(arg, name) for arg in term.args)


def _implied(left: SmtTerm, right: SmtTerm) -> SmtTerm:
    """The implication from left to right, with nested premises moved to the left."""
    if right.op == "=>":
        return _implied(conjunction([left, right.args[0]]), right.args[1])
    return implication(left, right)


def opened(goal: SmtTerm, name: Callable[[str], SmtTerm]) -> tuple[tuple[SmtTerm, ...], SmtTerm]:
    """The assumptions and the remaining goal of a goal, with constants for universally bound names."""
    match goal:
        case SmtTerm(op="forall", args=(body,)):
            names = {SmtTerm(old, (), sort, is_bound=True): name(sort) for old, sort in goal.binds}
            return opened(substituted(body, names), name)
        case SmtTerm(op="=>", args=(left, right)):
            assumed, rest = opened(right, name)
            return (left, *assumed), rest
        case SmtTerm(op="or", args=parts):
            wide = [part for part in parts if part.op in {"forall", "=>"}]
            if len(wide) != 1:
                return (), goal
            assumed, rest = opened(wide[0], name)
            return (*(negation(part) for part in parts if part != wide[0]), *assumed), rest
        case _:
            return (), goal


def ground(term: SmtTerm) -> Iterator[SmtTerm]:
    """Every subterm without bound variables."""
    if not any(part.is_bound for part in symbols(term)):
        yield from symbols(term)
    else:
        for arg in term.args:
            yield from ground(arg)


def _disjuncts(term: SmtTerm) -> tuple[SmtTerm, ...]:
    """The disjuncts of a formula."""
    match term:
        case SmtTerm(op="or", args=parts):
            return tuple(each for part in parts for each in _disjuncts(part))
        case SmtTerm(op="and", args=parts):
            return tuple(conjunction(each) for each in product(*map(_disjuncts, parts)))
        case _:
            return (term,)


# ------------------------------------------------------------------ arithmetic


def add(left: SmtTerm, right: SmtTerm) -> SmtTerm:
    """The term left + right."""
    a, b = value_of(left), value_of(right)
    if a is not None and b is not None:
        return number(a + b)
    if a == 0 or b == 0:
        return right if a == 0 else left
    if b is not None and left.op in {"+", "-"} and len(left.args) == 2:
        base, step = left.args
        known = value_of(step)
        if known is not None:
            return _moved(base, b + (known if left.op == "+" else -known))
    return SmtTerm("+", (left, right), INT)


def _moved(base: SmtTerm, by: int) -> SmtTerm:
    """The term base + by."""
    return subtract(base, number(-by)) if by < 0 else add(base, number(by))


def subtract(left: SmtTerm, right: SmtTerm) -> SmtTerm:
    """The term left - right."""
    a, b = value_of(left), value_of(right)
    if a is not None and b is not None:
        return number(a - b)
    if b == 0:
        return left
    if b is not None and left.op in {"+", "-"} and len(left.args) == 2 and value_of(left.args[1]) is not None:
        return add(left, number(-b))
    return number(0) if left == right else SmtTerm("-", (left, right), INT)


def at_most(left: SmtTerm, right: SmtTerm) -> SmtTerm:
    """The formula left <= right."""
    return _in_order("<=", left, right, or_equal=True)


def less(left: SmtTerm, right: SmtTerm) -> SmtTerm:
    """The formula left < right."""
    return _in_order("<", left, right, or_equal=False)


def _in_order(op: str, left: SmtTerm, right: SmtTerm, *, or_equal: bool) -> SmtTerm:
    """The comparison by `op`, or its value for constants."""
    a, b = value_of(left), value_of(right)
    if left == right:
        return TRUE if or_equal else FALSE
    if a is not None and b is not None:
        return TRUE if a < b else FALSE
    return SmtTerm(op, (left, right), BOOL)


# ------------------------------------------------------------------- structure


def substituted(term: SmtTerm, names: Mapping[SmtTerm, SmtTerm]) -> SmtTerm:
    """The term with the names replaced by other terms."""
    if names.keys().isdisjoint(term.free_names):
        return term
    return names[term] if term.is_bound else term.on([substituted(arg, names) for arg in term.args])


def renamed(term: SmtTerm) -> SmtTerm:
    """The term with bound names numbered in order of occurrence, equal for equivalent terms."""
    names: dict[str, str] = {}

    def name(old: str) -> str:
        return names.setdefault(old, f"%{len(names)}")

    def walk(part: SmtTerm) -> SmtTerm:
        binds = tuple((name(old), sort) for old, sort in part.binds)
        op = name(part.op) if part.is_bound else part.op
        return SmtTerm(op, tuple(map(walk, part.args)), part.sort, binds, part.is_bound, part.is_made)

    return walk(term)


def abstracted(body: SmtTerm, name: SmtTerm) -> tuple[tuple[SmtTerm, ...], SmtTerm]:
    """The names other than `name` that a term depends on, and its form with them numbered."""
    params = tuple(each for each in body.free_names if each != name)
    return params, renamed(apply("", [*params, name, body], BOOL))


def symbols(term: SmtTerm) -> Iterator[SmtTerm]:
    """Every subterm of a term."""
    yield term
    for arg in term.args:
        yield from symbols(arg)
