"""Terms over plain variables as formulas of z3, in which there are only truth values.

Everything is finite and small, so a number is a truth value for each value that it
may have, which lets the solver conclude more than bits of it do.
Formulas are made by the hundred thousand, so they are made by z3's C functions, which ask no types.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import product
from typing import Any

from modelcheck.grounding.terms import GroundTerm, Sign
from modelcheck.symbolic.z3_library import z3

Formula = Any  # of z3, which has no types
Atoms = tuple[Formula, ...]  # a stored number: for each value from 0 whether it is that
Number = dict[int, Formula]  # for each value that it may have, when it has that
State = list[Formula | Atoms]
ARITHMETIC = {
    Sign.ADD: operator.add,
    Sign.SUB: operator.sub,
    Sign.MUL: operator.mul,
    Sign.DIV: operator.floordiv,
    Sign.MOD: operator.mod,
}


class Formulas:
    """Translates terms over a state to z3 formulas; a number becomes a formula for each value.

    The values of a number exclude each other, and it has one of them, so a formula needs
    to say only when a number has a value, and never when it has not.
    `look` is called before each, and may raise: there may be millions.
    """

    def __init__(self, state: State, look: Callable[[], object] = lambda: None) -> None:
        self._state, self._look = state, look
        self._made: dict[GroundTerm, Formula | Number] = {}

    def truth(self, term: GroundTerm) -> Formula:
        """The formula of a Boolean term."""
        return self.made(term)

    def made(self, term: GroundTerm) -> Formula | Number:
        """The formula of a term, or a formula for each value of a number; made once, without recursion."""
        stack = [term]
        while stack:
            top = stack[-1]
            if top in self._made:
                stack.pop()
                continue
            waiting = [arg for arg in top.args if arg not in self._made]
            if waiting:
                stack.extend(waiting)
                continue
            self._look()
            self._made[top] = self._formula(top, [self._made[arg] for arg in top.args])
            stack.pop()
        return self._made[term]

    def _formula(self, term: GroundTerm, args: list[Any]) -> Formula | Number:  # noqa: C901 - by sign
        """The formula of a term from those of its arguments."""
        match term.sign, args:
            case Sign.CONST, _:
                return {term.lo: true()} if not term.truth else true() if term.lo else false()
            case Sign.VAR, _:
                stored = self._state[term.value]
                return dict(enumerate(stored)) if isinstance(stored, tuple) else stored
            case Sign.NOT, [a]:
                return no(a)
            case Sign.AND, _:
                return every(args)
            case Sign.OR, _:
                return some(args)
            case Sign.EQ, [dict(a), dict(b)]:
                return some(every([a[n], b[n]]) for n in a if n in b)
            case Sign.EQ, [a, b]:
                return a == b
            case Sign.LT, [a, b]:
                return some(every([a[n], some(b[m] for m in b if m > n)]) for n in a)
            case Sign.ITE, [test, dict(a), dict(b)]:
                return _chosen(test, a, b)
            case Sign.ITE, [test, a, b]:
                return choice(test, a, b)
            case sign, [a, b]:
                found: dict[int, list[Formula]] = {}
                for (n, x), (m, y) in product(a.items(), b.items()):
                    if sign not in {Sign.DIV, Sign.MOD} or m:
                        found.setdefault(ARITHMETIC[sign](n, m), []).append(every([x, y]))
                return {n: some(tests) for n, tests in found.items()}
            case sign, _:
                raise AssertionError(f"{sign} of {len(args)}")


def _chosen(test: Formula, a: Number, b: Number) -> Number:
    """The formulas for each value of an if-then-else of numbers."""
    found = {}
    for n in {**a, **b}:
        if n in a and n in b:
            found[n] = a[n] if a[n] is b[n] else choice(test, a[n], b[n])
        else:
            found[n] = every([test, a[n]] if n in a else [no(test), b[n]])
    return found


@cache
def true() -> Formula:
    """The formula true, always the same object."""
    return z3.BoolVal(val=True)


@cache
def false() -> Formula:
    """The formula false, always the same object."""
    return z3.BoolVal(val=False)


def every(parts: Iterable[Formula]) -> Formula:
    """The conjunction of the parts."""
    always = true()
    found = [part for part in parts if part is not always]
    if not found:  # z3 takes an And of nothing for something that it knows nothing about
        return always
    return found[0] if len(found) == 1 else _made(z3.Z3_mk_and, *in_c(found))


def some(parts: Iterable[Formula]) -> Formula:
    """The disjunction of the parts."""
    never = false()
    found = [part for part in parts if part is not never]
    if not found:
        return never
    return found[0] if len(found) == 1 else _made(z3.Z3_mk_or, *in_c(found))


def no(formula: Formula) -> Formula:
    """The negation of a formula."""
    return _made(z3.Z3_mk_not, formula.ast)


def choice(test: Formula, a: Formula, b: Formula) -> Formula:
    """The formula that is `a` where `test` is true, else `b`."""
    return _made(z3.Z3_mk_ite, test.ast, a.ast, b.ast)


def implies(a: Formula, b: Formula) -> Formula:
    """The implication from `a` to `b`."""
    return b if a is true() else _made(z3.Z3_mk_implies, a.ast, b.ast)


def _made(function: Callable[..., Formula], *args: Formula) -> Formula:
    """The formula that a function of z3's C interface makes."""
    context = z3.main_ctx()
    return z3.BoolRef(function(context.ref(), *args), context)


def in_c(literals: Sequence[Formula]) -> tuple[int, Any]:
    """The number of literals, and the C array of them, as arguments for z3's C interface."""
    return len(literals), (z3.Ast * len(literals))(*[literal.ast for literal in literals])
