"""What statements write, read and choose, asked of the rounds of a `for`."""

from __future__ import annotations

from collections.abc import Sequence

import spec.model.ir as ir
import spec.model.types as t
from modelcheck.export.known import Knowledge, Locals, Reach
from spec.model.op import Op
from spec.model.values import members
from spec.model.walk import children, walk_statements


def written(statements: Sequence[ir.Stmt]) -> tuple[int, ...]:
    """The indices of the variables that statements assign, ascending."""
    return tuple(sorted({each.var for each in walk_statements(statements) if isinstance(each, ir.Assign)}))


def asserted(statements: Sequence[ir.Stmt]) -> tuple[str, ...]:
    """The names of the `assert` statements, in textual order."""
    every = walk_statements(statements)
    return tuple(dict.fromkeys(each.name for each in every if isinstance(each, ir.Assert)))


def is_parallel(statement: ir.Each, knowledge: Knowledge, scope: ir.Scope, known: Locals) -> bool:
    """Whether the rounds of a `for` are independent: each writes its own entries, which no other reads.

    Then the order of the rounds cannot be seen, and all can be done at once.
    """
    if isinstance(statement.domain.type, t.Seq) or not statement.body:
        return False
    every = set(written(statement.body))
    reach = knowledge.member(statement.domain, statement.case, known).reach
    earlier: set[int] = set()
    for each in statement.body:
        if not isinstance(each, ir.Assign) or each.var in earlier:
            return False
        of = knowledge.model.variables[each.var].type
        if not _is_own(each.path, of, statement.slot, reach, scope):
            return False
        if _reads_elsewhere(each.value, every, earlier, statement.slot):
            return False
        earlier.add(each.var)
    return True


def _is_own(path: tuple[ir.Key | ir.At, ...], of: t.Type, slot: int, reach: Reach, scope: ir.Scope) -> bool:
    """Whether a path is the entry of the round's member, which the map surely has."""
    match path, of:
        case (ir.Key(ir.Local(slot=own)),), t.Map(key, _) if own == slot:
            keys = members(key, scope)
            return not t.is_number(key) or reach.within(Reach(keys[0], keys[-1]))
        case _:
            return False


def _reads_elsewhere(expr: ir.Expr, every: set[int], earlier: set[int], slot: int) -> bool:
    """Whether an expression reads what the loop writes, except its own entry before it is written."""
    match expr:
        case ir.Apply(op=Op.LOOKUP, args=(ir.Var(index=index), ir.Local(slot=own))) if own == slot:
            return index in earlier
        case ir.Var(index=index):
            return index in every
        case _:
            return any(_reads_elsewhere(part, every, earlier, slot) for part in children(expr))
