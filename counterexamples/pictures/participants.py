"""Whose state an action uses: of its parameters and choices, those that take part and are not only named."""

from __future__ import annotations

from collections.abc import Iterable

from spec.model.ir import Action, Apply, Assign, Bind, Bound, Choose, Each, Expr, Key, Let, Local, Var
from spec.model.op import Op
from spec.model.walk import expressions, expressions_before, walk, walk_statements


def participants(action: Action) -> frozenset[str]:
    """The names of parameters and choices of which an action reads or changes a field or a channel.

    Of a set it is enough that it does so for a member.  Costs a walk through the action.
    """
    found = _Uses(action)
    return frozenset(name for slot, name in found.given.items() if slot in found.used)


class _Uses:
    """The slots of what is given, and of those the ones whose fields or channels are used."""

    def __init__(self, action: Action) -> None:
        self.given = {param.slot: param.name for param in action.params}
        self.used = set[int]()
        self._from = {slot: frozenset({slot}) for slot in self.given}  # for each slot, what its value is of
        for expr in expressions_before(action):
            self._read(expr)
        self._bind(part for part in action.head if isinstance(part, Bound))
        for expr in expressions_before(action):  # with what the head binds
            self._read(expr)
        for statement in walk_statements(action.body):
            for expr in expressions(statement):
                self._read(expr)
            match statement:
                case Bound():
                    self._bind((statement,))
                case Each(slot=slot, domain=domain):
                    self._from[slot] = self._sources(domain)
                case Choose(slot=slot, name=name):
                    self.given[slot], self._from[slot] = name, frozenset({slot})
                case Assign(path=(Key(key), *_)):
                    self.used |= self._sources(key)
                case _:
                    pass

    def _bind(self, parts: Iterable[Bound]) -> None:
        """Note what bound values are of."""
        for part in parts:
            self._from[part.slot] = self._sources(part.value)

    def _read(self, expr: Expr) -> None:
        """Note whose fields and channels an expression reads."""
        for part in walk(expr):
            match part:
                case Let(slot=slot, value=value) | Bind(slot=slot, domain=value):
                    self._from[slot] = self._sources(value)
                case Apply(op=Op.LOOKUP, args=(Var(), key)):
                    self.used |= self._sources(key)
                case _:
                    pass

    def _sources(self, expr: Expr) -> frozenset[int]:
        """The slots of what is given that the value of an expression is of."""
        slots = [part.slot for part in walk(expr) if isinstance(part, Local)]
        return frozenset().union(*(self._from.get(slot, frozenset()) for slot in slots))
