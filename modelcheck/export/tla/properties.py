"""The claims of a check in TLA+, and comments for those that are left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import assert_never

import modelcheck.export.tla.terms as tla
import spec.model.ir as ir
from modelcheck.export.tla.expressions import TlaEnv, TlaExpressions
from modelcheck.export.tla.names import remark
from modelcheck.export.tla.terms import TlaTerm
from spec.formatting.documents import LINE, Doc, Nest, cat
from spec.model.walk import walk

Possible = Callable[[ir.Action], TlaTerm | None]  # whether an action is, where a state decides that

ANY_STATE = tla.equal(tla.atom("vars"), tla.atom("vars"))
STUTTERING = (
    "TLC asks step properties of steps that change something, modelcheck of those too that change nothing"
)
EDGE = (
    "a fair step that would leave the scope counts as impossible in TLC, where modelcheck counts it as "
    "possible: at the edge of the scope TLC may show a run that modelcheck does not"
)


@dataclass(slots=True)
class PropertyDefinitions:
    """The definitions of properties, by the section of TLC's configuration they belong to."""

    definitions: list[tuple[str, Doc]] = field(default_factory=list)
    invariants: list[str] = field(default_factory=list)
    temporal: list[str] = field(default_factory=list)
    examples: list[str] = field(default_factory=list)
    asserted: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    is_fair: bool = False  # whether some claim is about fair runs


class PropertyWriter:
    """Writes the properties of a check."""

    def __init__(self, expressions: TlaExpressions, now: TlaEnv, step: TlaEnv, possible: Possible) -> None:
        self._e = expressions
        self._now = now
        self._step = step
        self._possible = possible
        self._names = expressions.values.words.properties
        self._variables = expressions.values.words.variables

    def claims(self, looked_at: Sequence[ir.Property], actions: Sequence[ir.Action]) -> PropertyDefinitions:
        """The definitions of all properties; one that has no form is noted."""
        claims = PropertyDefinitions()
        for prop in looked_at:
            self._claim(prop, claims, actions)
        if any(prop.kind is ir.PropertyKind.STEP for prop in looked_at):
            claims.notes.append(STUTTERING)
        if claims.is_fair:
            claims.notes.append(EDGE)
        return claims

    def _claim(self, prop: ir.Property, claims: PropertyDefinitions, actions: Sequence[ir.Action]) -> None:
        """Write one property."""
        name = self._names[prop.name]
        match prop.kind:
            case ir.PropertyKind.INVARIANT | ir.PropertyKind.LEMMA:
                claims.invariants.append(name)
                self._define(claims, prop, name, self._of_state(self._term(prop.expr, self._now)))
            case ir.PropertyKind.STEP:
                claims.temporal.append(name)
                step = self._term(prop.expr, self._step)
                self._define(
                    claims, prop, name, TlaTerm(cat("[][", Nest(3, tla.unbound(step)), "]_vars"), tla.OPEN)
                )
            case ir.PropertyKind.REACHABLE:
                claims.examples.append(name)
                never = tla.negated(self._term(prop.expr, self._now))
                self._define(claims, prop, name, self._of_state(never))
            case ir.PropertyKind.LEADSTO:
                claims.temporal.append(name)
                claims.is_fair = True
                ends = [tla.within(self._side(x), tla.ATOM) for x in (prop.expr, prop.goal)]
                self._define(claims, prop, name, TlaTerm(cat(ends[0], Nest(2, cat(LINE, "~> ")), ends[1])))
            case ir.PropertyKind.ALWAYS_EVENTUALLY | ir.PropertyKind.EVENTUALLY_ALWAYS:
                claims.temporal.append(name)
                claims.is_fair = True
                how = "[]<>" if prop.kind is ir.PropertyKind.ALWAYS_EVENTUALLY else "<>[]"
                term = tla.within(self._side(prop.expr), tla.ATOM)
                self._define(claims, prop, name, TlaTerm(cat(how, term)))
            case ir.PropertyKind.DEADLOCK_FREE:
                self._deadlock_free(prop, name, claims, actions)
            case ir.PropertyKind.RECOVERABLE:
                claims.notes.append(f"{prop.name} is left out: TLC has no word for `recoverable`")
            case ir.PropertyKind.ASSERT:
                claims.asserted.append(prop.name)
            case _:
                assert_never(prop.kind)

    def _term(self, expr: ir.Expr | None, env: TlaEnv) -> TlaTerm:
        """The formula of a property's expression."""
        assert expr is not None, "such a property has an expression"
        return self._e.term(expr, env)

    def _side(self, expr: ir.Expr | None) -> TlaTerm:
        """A side of `~>`, `[]<>` or `<>[]`, which must not be constant for TLC.

        A quantifier is written out by TLC, so that nothing is left where its domain has no members.
        """
        assert expr is not None, "such a property has an expression"
        found = self._term(expr, self._now)
        if any(isinstance(x, ir.Bind) and not isinstance(x.domain, ir.Members) for x in walk(expr)):
            return tla.both([found, ANY_STATE])
        return self._of_state(found)

    def _of_state(self, found: TlaTerm) -> TlaTerm:
        """The formula made to depend on the state, as TLC requires.

        TLC evaluates a constant once, and where one is false it stops before it has made a state.
        """
        reads = any(re.search(rf"\b{re.escape(name)}\b", str(found)) for name in self._variables)
        return found if reads else tla.both([found, ANY_STATE])

    def _define(self, claims: PropertyDefinitions, prop: ir.Property, name: str, body: TlaTerm) -> None:
        """Add a definition."""
        says = "".join(part if isinstance(part, str) else "..." for part in prop.says or ())
        what = prop.kind.value
        if prop.kind is ir.PropertyKind.REACHABLE:
            what = f"{prop.name} is to be reachable, and this is its opposite"
        head = rf"\* {what}" + (f": {remark(says)}" if says else "")
        claims.definitions.append((head, tla.definition(name, (), body)))

    def _deadlock_free(
        self, prop: ir.Property, name: str, claims: PropertyDefinitions, actions: Sequence[ir.Action]
    ) -> None:
        """The formula that some action is possible, or the run may end.

        TLC looks at the last only where all before it are false, as modelcheck does.
        """
        possible = [self._possible(action) for action in actions]
        some = [each for each in possible if each is not None]
        if len(some) < len(possible):
            claims.notes.append(
                f"{name} is left out: an action makes a choice after it has changed something"
            )
            return
        claims.invariants.append(name)
        if prop.expr is not None:
            some.append(self._term(prop.expr, self._now))
        self._define(claims, prop, name, self._of_state(tla.either(some)))
