"""Which state variables can still make a difference: the cone of influence of actions and expressions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from spec.model.ir import Action, Assign, Expr, Fit, Stmt
from spec.model.totality import Totality, keeps_to_type
from spec.model.walk import expressions, expressions_before, variables_in, walk_statements


def influential(actions: Iterable[Action], asked: Iterable[Expr]) -> frozenset[int]:
    """The variables, by index, on which it depends which steps the actions have, or what is asked.

    Two states that differ in the other variables alone have the same steps by these actions, to states that
    differ in those alone; the same steps are cut or an error; and what is asked has the same value in both.
    A variable counts that a guard, a choice or a condition reads, or a value that may be cut or an
    error; and each that is assigned to one that counts.  Linear in the text for each round.
    """
    actions, total = tuple(actions), Totality()
    statements = [each for action in actions for each in walk_statements(action.body)]
    read = [*asked, *(expr for action in actions for expr in expressions_before(action))]
    read += [expr for each in statements for expr in _always_read(each, total)]
    found = frozenset[int]().union(*map(variables_in, read))
    flows = [(each.var, variables_in(each.value)) for each in statements if isinstance(each, Assign)]
    while more := frozenset[int]().union(*(sources for target, sources in flows if target in found)) - found:
        found |= more
    return found


def _always_read(statement: Stmt, total: Totality) -> Iterator[Expr]:
    """The expressions of a statement that matter whatever becomes of a value that it assigns."""
    *others, last = expressions(statement)
    yield from others
    if not (isinstance(statement, Assign) and _is_stored(last, total)):
        yield last


def _is_stored(value: Expr, total: Totality) -> bool:
    """Whether to assign a value is surely neither an error nor a cut."""
    if isinstance(value, Fit):
        return value.of.type == value.type and keeps_to_type(value.of) and total.of(value.of)
    return total.of(value)
