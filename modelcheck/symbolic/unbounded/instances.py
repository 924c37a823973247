"""A formula of a small scope without quantifiers: what holds for all values is stated for each.

Solvers are quick with such formulas, and slow, or at a loss, with quantifiers that
are not true.  Numbers are looked at only as far as the scope's nats go and one
further, and where the formula names one; messages only where the formula names them.
So what is found this way may be none of the formula's models: it has to be looked at again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product

from modelcheck.symbolic.unbounded.obligations import Formula
from modelcheck.symbolic.unbounded.terms import (
    BOOL,
    FALSE,
    INT,
    TRUE,
    SmtTerm,
    add,
    at_most,
    bound,
    choice,
    conjunction,
    disjunction,
    equality,
    ground,
    implication,
    less,
    made,
    negation,
    number,
    quantified,
    substituted,
    subtract,
    value_of,
)
from modelcheck.symbolic.unbounded.theory import Small

Values = Mapping[str, Sequence[SmtTerm]]  # of each sort


def without_quantifiers(formula: Formula, small: Small) -> Formula:
    """The formula with its quantifiers expanded over the values of a small scope."""
    terms = [*(term for _, term in formula.assumed), formula.goal]
    values = _values(terms, small)
    assumed = tuple((name, expanded(term, values)) for name, term in formula.assumed)
    return replace(formula, assumed=assumed, goal=expanded(formula.goal, values))


def _values(terms: Sequence[SmtTerm], small: Small) -> Values:
    """The values of each sort: the ground terms, numbers up to the bounds, and members."""
    named: dict[str, dict[SmtTerm, None]] = {}
    for term in terms:
        for part in ground(term):
            named.setdefault(part.sort, {})[part] = None
    most = max([*small.nats.values(), 0])
    known = [part for part in named.get(INT, ()) if not part.args and value_of(part) is None]
    scalars: Values = {INT: [*(number(n) for n in range(most + 2)), *known], BOOL: [FALSE, TRUE]}
    members = {f"|{sort}|": [made(m, (), f"|{sort}|") for m in small.members(sort)] for sort in small.sorts}
    return {**{sort: list(found) for sort, found in named.items()}, **scalars, **members}


def expanded(term: SmtTerm, values: Values) -> SmtTerm:
    """The term with quantifiers over sorts that have values expanded."""
    if term.binds:
        body = term.args[0] if term.args[0].op != "!" else term.args[0].args[0]
        names = [bound(name, sort) for name, sort in term.binds]
        known = [name for name in names if name.sort in values]
        join = conjunction if term.op == "forall" else disjunction
        each = [
            expanded(substituted(body, dict(zip(known, chosen, strict=True))), values)
            for chosen in product(*(values[name.sort] for name in known))
        ]
        return quantified(term.op, [name for name in names if name not in known], join(each))
    args = [expanded(arg, values) for arg in term.args]
    build = SIMPLER.get(term.op)
    return build(args) if build is not None and term.args else term.on(args)


def _negative_or_less(args: Sequence[SmtTerm]) -> SmtTerm:
    """The negation of one number, or the difference of two."""
    return subtract(*args) if len(args) == 2 else SmtTerm("-", tuple(args), INT)


SIMPLER: Mapping[str, Callable[[Sequence[SmtTerm]], SmtTerm]] = {
    "and": conjunction,
    "or": disjunction,
    "not": lambda args: negation(*args),
    "=>": lambda args: implication(*args),
    "=": lambda args: equality(*args),
    "ite": lambda args: choice(*args),
    "<=": lambda args: at_most(*args),
    "<": lambda args: less(*args),
    "+": lambda args: add(*args),
    "-": _negative_or_less,
}
