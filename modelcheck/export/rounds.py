"""What statements write, read and choose, asked of the rounds of a `for`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import spec.ir as ir
import spec.types as t
from modelcheck.export.known import Knowledge, Locals, Reach
from spec.values import members


def chooses(statement: ir.Stmt) -> bool:
    """Whether there is a `choose` in a statement, so that it has several ends."""
    match statement:
        case ir.Choose():
            return True
        case ir.Branch(then=then, other=other):
            return any(map(chooses, then + other))
        case ir.Each(body=body):
            return any(map(chooses, body))
        case _:
            return False


def parts_of(statements: Sequence[ir.Stmt]) -> Iterator[ir.Stmt]:
    """Statements and those inside them, in the order of the text."""
    for statement in statements:
        yield statement
        match statement:
            case ir.Branch(then=then, other=other):
                yield from parts_of(then + other)
            case ir.Each(body=body):
                yield from parts_of(body)
            case _:
                pass


def written(statements: Sequence[ir.Stmt]) -> tuple[int, ...]:
    """The variables that statements change, ascending."""
    return tuple(sorted({each.var for each in parts_of(statements) if isinstance(each, ir.Assign)}))


def asserted(statements: Sequence[ir.Stmt]) -> tuple[str, ...]:
    """The names that `assert` statements use, in the order of the text."""
    return tuple(dict.fromkeys(each.name for each in parts_of(statements) if isinstance(each, ir.Assert)))


def is_parallel(statement: ir.Each, knowledge: Knowledge, scope: ir.Scope, known: Locals) -> bool:
    """Whether each round writes places of its own and reads nothing that another round writes.

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
    """Whether a path is the whole entry of the round's member, and there is one for sure."""
    match path, of:
        case (ir.Key(ir.Local(slot=own)),), t.Map(key, _) if own == slot:
            keys = members(key, scope)
            return not t.is_number(key) or reach.within(Reach(keys[0], keys[-1]))
        case _:
            return False


def _reads_elsewhere(part: object, every: set[int], earlier: set[int], slot: int) -> bool:
    """Whether an expression reads what the loop writes, but for its own place before that is written."""
    match part:
        case ir.Apply(op=ir.Op.LOOKUP, args=(ir.Var(index=index), ir.Local(slot=own))) if own == slot:
            return index in earlier
        case ir.Var(index=index):
            return index in every
        case tuple():
            return any(_reads_elsewhere(each, every, earlier, slot) for each in part)
        case ir.Node():
            return any(_reads_elsewhere(each, every, earlier, slot) for each in fields_of(part))
        case _:
            return False


def fields_of(part: object) -> tuple[object, ...]:
    """What a node is made of, but for its place in the text and its type."""
    names = (name for cls in type(part).__mro__ for name in getattr(cls, "__slots__", ()))
    return tuple(getattr(part, name) for name in names if name not in {"span", "type"})
