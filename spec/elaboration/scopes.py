"""Bound names while an action, a property or a function is read: slots, types, and what is known of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
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
class Narrowed:
    """What a test has shown of an expression: its narrower type, and the state variables that it reads."""

    type: t.Type
    reads: frozenset[int]


Facts = Mapping[se.Expr, Narrowed]


@frozen
class TypeEnv:
    """The names in scope, and facts: expressions whose type is narrower here than declared.

    After `m is Vote` the name `m` is a Vote; after `leader != none` the
    expression `leader` is a member.  Facts are keyed by syntax, which is
    equal at every place.  `ended` has the statement that ended each fact no longer known.
    """

    names: Mapping[str, Binding] = field(default_factory=dict)
    facts: Facts = field(default_factory=dict)
    ended: Mapping[se.Expr, Span] = field(default_factory=dict)

    def bind(self, name: str, binding: Binding) -> TypeEnv:
        """The environment with one more name; facts about a shadowed name are dropped."""
        kept = {expr: fact for expr, fact in self.facts.items() if not mentions(expr, name)}
        ended = {expr: span for expr, span in self.ended.items() if not mentions(expr, name)}
        return TypeEnv({**self.names, name: binding}, kept, ended)

    def knowing(self, facts: Facts) -> TypeEnv:
        """The environment with more facts."""
        return replace(self, facts={**self.facts, **facts}) if facts else self

    def settled(self) -> TypeEnv:
        """The environment without facts about the state, as before a step."""
        return replace(self, facts={expr: fact for expr, fact in self.facts.items() if not fact.reads})

    def after(self, changed: Collection[int], span: Span) -> TypeEnv:
        """The environment after the statement at a span, without facts that read a variable it changes."""
        gone = [expr for expr, fact in self.facts.items() if not fact.reads.isdisjoint(changed)]
        if not gone:
            return self
        kept = {expr: fact for expr, fact in self.facts.items() if expr not in gone}
        return TypeEnv(self.names, kept, {**self.ended, **dict.fromkeys(gone, span)})

    def why_unknown(self, expr: se.Expr) -> tuple[tuple[Span, str], ...]:
        """The note where a fact about an expression ended; none if it never was known."""
        if expr not in self.ended:
            return ()
        return ((self.ended[expr], "an earlier test of it ends here: this changes what it reads"),)


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
