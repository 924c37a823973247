"""Bound names while an action, a property or a function is read: slots, types, and what is known of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum as PyEnum

import spec.model.ir as ir
import spec.model.types as t
import spec.syntax.expressions as se
from spec.frozen import frozen
from spec.source import Span


@frozen
class Binding:
    """A bound name: usually a slot of a type; `value` when it names an expression that needs no slot."""

    type: t.Type
    slot: int
    value: ir.Expr | None = None


@frozen
class TypeEnv:
    """The names in scope, and facts: expressions whose type is narrower here than declared.

    After `m is Vote` the name `m` is a Vote; after `leader != none` the
    expression `leader` is a member.  Facts are keyed by syntax, which is
    equal at every place.
    """

    names: Mapping[str, Binding] = field(default_factory=dict)
    facts: Mapping[se.Expr, t.Type] = field(default_factory=dict)

    def bind(self, name: str, binding: Binding) -> TypeEnv:
        """The environment with one more name; facts about a shadowed name are dropped."""
        kept = {expr: of for expr, of in self.facts.items() if not mentions(expr, name)}
        return TypeEnv({**self.names, name: binding}, kept)

    def knowing(self, facts: Mapping[se.Expr, t.Type]) -> TypeEnv:
        """The environment with more facts."""
        return replace(self, facts={**self.facts, **facts}) if facts else self

    def settled(self) -> TypeEnv:
        """The environment without facts about the state, which a statement ends."""
        return replace(self, facts={expr: of for expr, of in self.facts.items() if self._is_bound(expr)})

    def _is_bound(self, expr: se.Expr) -> bool:
        """Whether an expression depends only on bound names."""
        if isinstance(expr, se.Name):
            return expr.name in self.names
        return self._part_of_bound(expr) is not None

    def _part_of_bound(self, expr: se.Expr) -> t.Type | None:
        """The type of a path through parts of a bound value; None if it reads the state."""
        found: t.Type | None = None
        match expr:
            case se.Name(name) if name in self.names and self.names[name].value is None:
                found = self.names[name].type
            case se.Get(of, field_):
                match self._part_of_bound(of):
                    case t.Record(_, fields) | t.Case(_, _, fields) | t.Union(_, (t.Case(_, _, fields), *_)):
                        # All cases of a union have what can be read without knowing which it is.
                        found = next((each.type for each in fields if each.name == field_.text), None)
                    case _:
                        pass
            case se.Index(of, index) if isinstance(index, se.IntLit) or self._part_of_bound(index):
                match self._part_of_bound(of):
                    case t.Map(_, inner) | t.Seq(inner):
                        found = inner
                    case _:
                        pass
            case _:
                pass
        return None if found is None else self.facts.get(expr, found)


def mentions(node: object, name: str) -> bool:
    """Whether a path (`x`, `x.f`, `x[i]`) mentions a name."""
    match node:
        case se.Name(found):
            return found == name
        case se.Get(of):
            return mentions(of, name)
        case se.Index(of, index):
            return mentions(of, name) or mentions(index, name)
        case _:
            return False


class Use(PyEnum):
    """The kinds of things that an expression can read, which not every place allows."""

    STATE = "state"
    GHOST = "ghost"
    OLD = "old"  # old(…) and did(…)
    ENABLED = "enabled"


@dataclass(slots=True)
class SlotFrame:
    """The slots of one action or property, and the uses found in its expressions."""

    slots: int = 0
    uses: list[tuple[Use, Span, str]] = field(default_factory=list)
    inlining: list[tuple[str, Span]] = field(
        default_factory=list
    )  # functions put in place now: name and call
    size: int = 0  # how many expressions were elaborated

    def slot(self) -> int:
        """A fresh slot."""
        self.slots += 1
        return self.slots - 1

    def use(self, what: Use, span: Span, name: str) -> None:
        """Record a use, at the outermost call if it is inside functions."""
        self.uses.append((what, self.inlining[0][1] if self.inlining else span, name))
