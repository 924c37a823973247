"""Terms over plain variables: truth values and small numbers, simplified as they are made.

A term is made once, so equal terms are the same object.  Every term has a
value in every state: nothing divides by zero and no index is ever outside, so
a term may be evaluated early, late, or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from functools import reduce
from itertools import groupby

from spec.frozen import frozen
from spec.meaning.operators import MOST_BITS


class Sign(Enum):
    """The operators of terms, with variables and constants."""

    CONST = "const"
    VAR = "var"
    NOT = "not"
    AND = "and"
    OR = "or"
    EQ = "=="
    LT = "<"
    ADD = "+"
    SUB = "-"
    MUL = "*"
    DIV = "/"
    MOD = "%"
    ITE = "if"

    __hash__ = object.__hash__  # by identity, and so not in Python


@frozen(eq=False)
class GroundTerm:
    """A term; equal terms of one `Terms` are the same object. Its value is within `lo` and `hi`."""

    sign: Sign
    args: tuple[GroundTerm, ...]
    value: int  # of a constant; the number of a variable
    truth: bool  # whether it is true or false rather than a number
    lo: int
    hi: int
    size: int  # as written out

    @property
    def constant(self) -> int | None:
        """The value of a constant term; None for others."""
        return self.lo if self.lo == self.hi else None


class Terms:
    """Makes simplified terms; equal terms are the same object (hash consing)."""

    def __init__(self) -> None:
        self._made: dict[tuple[object, ...], GroundTerm] = {}
        self._opposites: dict[GroundTerm, GroundTerm] = {}  # of what was denied so far
        # of choices that were compared so far
        self._equal: dict[tuple[GroundTerm, GroundTerm], GroundTerm] = {}
        self.true = self._make(Sign.CONST, (), 1, truth=True, lo=1, hi=1)
        self.false = self._make(Sign.CONST, (), 0, truth=True, lo=0, hi=0)

    def __len__(self) -> int:
        """The number of distinct terms made."""
        return len(self._made)

    def _make(
        self, sign: Sign, args: tuple[GroundTerm, ...], value: int, *, truth: bool, lo: int, hi: int
    ) -> GroundTerm:
        """The term with this operator and arguments, made once."""
        key = (sign, tuple(map(id, args)), value, truth)
        if key not in self._made:
            if lo == hi and sign is not Sign.CONST:
                self._made[key] = self.bool(is_true=bool(lo)) if truth else self.number(lo)
            else:
                size = 1 + sum(arg.size for arg in args)
                self._made[key] = GroundTerm(sign, args, value, truth, lo, hi, size)
        return self._made[key]

    # ------------------------------------------------------------------ leaves

    def bool(self, *, is_true: bool) -> GroundTerm:
        """The constant true or false."""
        return self.true if is_true else self.false

    def number(self, value: int) -> GroundTerm:
        """The constant `value`."""
        return self._make(Sign.CONST, (), value, truth=False, lo=value, hi=value)

    def var(self, index: int, most: int | None) -> GroundTerm:
        """The variable number `index`, from 0 to `most`; a Boolean if that is None."""
        hi = 1 if most is None else most
        return self._make(Sign.VAR, (), index, truth=most is None, lo=0, hi=hi)

    # ------------------------------------------------------------------- logic

    def no(self, a: GroundTerm) -> GroundTerm:
        """The negation of `a`."""
        if a.constant is not None:
            return self.bool(is_true=not a.constant)
        opposite = self._opposites.get(a)
        if opposite is None:
            opposite = self._make(Sign.NOT, (a,), 0, truth=True, lo=0, hi=1)
            self._opposites |= {a: opposite, opposite: a}
        return opposite

    def all(self, parts: Iterable[GroundTerm]) -> GroundTerm:
        """The conjunction of the parts, without those that the others imply."""
        found = _flattened(Sign.AND, parts)
        found.pop(self.true, None)
        known: dict[GroundTerm, int] = {}
        for part in found:
            if part is self.false or self._opposites.get(part) in found:
                return self.false
            equal = _equation(part)
            if equal is not None and known.setdefault(*equal) != equal[1]:
                return self.false
        kept = [part for part in found if not _is_implied(part, known)]
        return self._joined(Sign.AND, kept, self.true)

    def any(self, parts: Iterable[GroundTerm]) -> GroundTerm:
        """The disjunction of the parts."""
        found = _flattened(Sign.OR, parts)
        found.pop(self.false, None)
        if self.true in found or any(self._opposites.get(part) in found for part in found):
            return self.true
        return self._joined(Sign.OR, list(found), self.false)

    def _joined(self, sign: Sign, parts: list[GroundTerm], none: GroundTerm) -> GroundTerm:
        """The conjunction or disjunction of simplified parts; `none` if there are none."""
        if len(parts) < 2:
            return parts[0] if parts else none
        return self._make(sign, tuple(parts), 0, truth=True, lo=0, hi=1)

    def both(self, a: GroundTerm, b: GroundTerm) -> GroundTerm:
        """The conjunction of `a` and `b`."""
        if a is self.true or a is b:
            return b
        return a if b is self.true else self.all((a, b))

    def implies(self, a: GroundTerm, b: GroundTerm) -> GroundTerm:
        """The implication from `a` to `b`."""
        return self.any((self.no(a), b))

    def ite(self, test: GroundTerm, a: GroundTerm, b: GroundTerm) -> GroundTerm:
        """The term that equals `a` where `test` is true, else `b`."""
        if test.constant is not None or a is b:
            return a if test.constant != 0 else b
        if test.sign is Sign.NOT:
            return self.ite(test.args[0], b, a)
        if a.sign is Sign.ITE and a.args[0] is test:
            a = a.args[1]
        if b.sign is Sign.ITE and b.args[0] is test:
            b = b.args[2]
        if a is b:
            return a
        equal = _equation(test)
        if equal is not None and b is equal[0] and a.constant == equal[1]:
            return b
        if a.truth:
            if a.constant is not None:
                return self.any((test, b)) if a.constant else self.both(self.no(test), b)
            if b.constant is not None:
                return self.any((self.no(test), a)) if b.constant else self.both(test, a)
        return self._make(Sign.ITE, (test, a, b), 0, truth=a.truth, lo=min(a.lo, b.lo), hi=max(a.hi, b.hi))

    def cases(self, choice: GroundTerm) -> tuple[list[tuple[GroundTerm, int]], GroundTerm]:
        """The constants of a nested if-then-else in order, with their tests, and the term of the last else.

        Costs a look at each case.
        """
        found = []
        while _names_a_value(choice):
            test, a, b = choice.args
            if a.constant is None:
                test, a, b = self.no(test), b, a
            found.append((test, a.lo))
            choice = b
        return found, choice

    # -------------------------------------------------------------- comparisons

    def eq(self, a: GroundTerm, b: GroundTerm) -> GroundTerm:
        """The term a == b of two numbers or two Booleans."""
        if a is b:
            return self.true
        if a.hi < b.lo or b.hi < a.lo:
            return self.false
        if a.sign is Sign.ITE and b.sign is Sign.ITE and a.args[0] is b.args[0]:
            return self._equal_choices(a, b)
        if a.constant is not None:
            a, b = b, a
        if a.truth:
            if b.constant is not None:
                return a if b.constant else self.no(a)
        elif b.constant is not None:
            if a.sign is Sign.ADD and a.args[1].constant is not None:
                return self.eq(a.args[0], self.number(b.lo - a.args[1].lo))
            if _names_a_value(a):
                return self._is(a, b)
        return self._make(Sign.EQ, (a, b), 0, truth=True, lo=0, hi=1)

    def _equal_choices(self, a: GroundTerm, b: GroundTerm) -> GroundTerm:
        """The term a == b of two if-then-else terms with the same test, made once for each pair."""
        found = self._equal.get((a, b))
        if found is None:
            found = self.ite(a.args[0], self.eq(a.args[1], b.args[1]), self.eq(a.args[2], b.args[2]))
            self._equal[a, b] = found
        return found

    def _is(self, choice: GroundTerm, value: GroundTerm) -> GroundTerm:
        """The term choice == value for a nested if-then-else, as a condition on its tests."""
        named, rest = self.cases(choice)
        found = self.eq(rest, value)
        for is_it, group in groupby(reversed(named), lambda each: each[1] == value.lo):
            some = [test for test, _ in group][::-1]
            found = self.any((*some, found)) if is_it else self.all((*map(self.no, some), found))
        return found

    def lt(self, a: GroundTerm, b: GroundTerm) -> GroundTerm:
        """The term a < b; of Booleans, false < true."""
        if a.truth and b.truth:
            return self.both(self.no(a), b)
        if a.hi < b.lo:
            return self.true
        if a is b or a.lo >= b.hi:
            return self.false
        if a.sign is Sign.ADD and a.args[1].constant is not None and b.constant is not None:
            return self.lt(a.args[0], self.number(b.lo - a.args[1].lo))
        return self._make(Sign.LT, (a, b), 0, truth=True, lo=0, hi=1)

    def is_number(self, a: GroundTerm, value: int) -> GroundTerm:
        """The term a == value; of a Boolean, compared with 0 or 1."""
        return self.eq(a, self.bool(is_true=bool(value)) if a.truth else self.number(value))

    def le(self, a: GroundTerm, b: GroundTerm) -> GroundTerm:
        """The term a <= b."""
        return self.no(self.lt(b, a))

    # --------------------------------------------------------------- arithmetic

    def add(self, a: GroundTerm, b: GroundTerm) -> GroundTerm:
        """The term a + b."""
        if a.constant is not None:
            a, b = b, a
        if b.constant == 0:
            return a
        if a.sign is Sign.ADD and a.args[1].constant is not None and b.constant is not None:
            return self.add(a.args[0], self.number(a.args[1].lo + b.lo))
        return self._make(Sign.ADD, (a, b), 0, truth=False, lo=a.lo + b.lo, hi=a.hi + b.hi)

    def sub(self, a: GroundTerm, b: GroundTerm) -> GroundTerm:
        """The term a - b."""
        if b.constant is not None:
            return self.add(a, self.number(-b.lo))
        if a is b:
            return self.number(0)
        return self._make(Sign.SUB, (a, b), 0, truth=False, lo=a.lo - b.hi, hi=a.hi - b.lo)

    def mul(self, a: GroundTerm, b: GroundTerm) -> GroundTerm:
        """The term a * b. Raises MemoryError where it may exceed MOST_BITS; see NOTE(enormous)."""
        if b.constant == 1:
            return a
        if max(map(int.bit_length, (a.lo, a.hi))) + max(map(int.bit_length, (b.lo, b.hi))) > MOST_BITS:
            raise MemoryError
        ends = [x * y for x in (a.lo, a.hi) for y in (b.lo, b.hi)]
        return self._make(Sign.MUL, (a, b), 0, truth=False, lo=min(ends), hi=max(ends))

    def divide(self, a: GroundTerm, by: int, sign: Sign) -> GroundTerm:
        """The quotient or (by `sign`) remainder of `a`, which is not negative, by a positive constant."""
        lo, hi = (a.lo // by, a.hi // by) if sign is Sign.DIV else (0, min(a.hi, by - 1))
        if a.constant is not None:
            lo = hi = a.lo // by if sign is Sign.DIV else a.lo % by
        return self._make(sign, (a, self.number(by)), 0, truth=False, lo=lo, hi=hi)

    def sum(self, parts: Iterable[GroundTerm]) -> GroundTerm:
        """The sum of the parts."""
        return reduce(self.add, parts, self.number(0))

    def count(self, test: GroundTerm) -> GroundTerm:
        """The number 1 where `test` is true, else 0."""
        return self.ite(test, self.number(1), self.number(0))

    def some(self, a: GroundTerm) -> GroundTerm:
        """The term a > 0; a Boolean itself."""
        return a if a.truth else self.lt(self.number(0), a)


def subterms(roots: Iterable[GroundTerm], known: Iterable[GroundTerm] = ()) -> Iterator[GroundTerm]:
    """The terms and all their subterms, each once, except `known` ones and those only below them."""
    seen = set(known)
    stack = list(roots)
    while stack:
        term = stack.pop()
        if term not in seen:
            seen.add(term)
            yield term
            stack.extend(term.args)


def _flattened(sign: Sign, parts: Iterable[GroundTerm]) -> dict[GroundTerm, None]:
    """The parts, each once, with nested terms of the same operator replaced by their parts."""
    return {each: None for part in parts for each in (part.args if part.sign is sign else (part,))}


def _names_a_value(term: GroundTerm) -> bool:
    """Whether the term is an if-then-else with a constant as one of its values."""
    return term.sign is Sign.ITE and (term.args[1].constant is not None or term.args[2].constant is not None)


def _equation(term: GroundTerm) -> tuple[GroundTerm, int] | None:
    """The term and the constant that an equation compares; None if the term is no such equation."""
    if term.sign is Sign.EQ and term.args[1].constant is not None:
        return term.args[0], term.args[1].lo
    return None


def _is_implied(part: GroundTerm, known: dict[GroundTerm, int]) -> bool:
    """Whether the part is `x != n` while `known` has another constant for x."""
    equal = _equation(part.args[0]) if part.sign is Sign.NOT else None
    return equal is not None and known.get(equal[0], equal[1]) != equal[1]
