"""Actions as others speak of them: with some parameters, as a step taken, as one that is possible."""

from __future__ import annotations

from collections.abc import Sequence

import modelcheck.export.tla.terms as tla
import spec.ir as ir
from modelcheck.export.known import KnownRange
from modelcheck.export.tla.expressions import TlaEnv, TlaExpressions
from modelcheck.export.tla.names import local
from modelcheck.export.tla.terms import TlaTerm
from modelcheck.grounding.budget import CountedBudget
from spec.walk import chooses


class Actions:
    """Writes what is said of actions; `now` is the scope of a state."""

    def __init__(
        self, expressions: TlaExpressions, model: ir.Model, counted: CountedBudget, now: TlaEnv
    ) -> None:
        self._e = expressions
        self._model = model
        self._counted = counted
        self._now = now

    def parameters(self, action: ir.Action, taken: frozenset[str] = frozenset()) -> tuple[list[str], TlaEnv]:
        """What an action's parameters are called where those names are taken, and the scope with them."""
        env, names = self._now.among(*taken), []
        for param in action.params:
            name = local(param.name, env.taken)
            known = self._e.knowledge.member(param.domain, param.case, env.known)
            env = env.bound(param.slot, tla.atom(name), known)
            names.append(name)
        return names, env

    def some(self, action: ir.Action) -> TlaTerm:
        """The action with some parameters."""
        names, _ = self.parameters(action)
        return self._bound(action, self._call(action, list(map(tla.atom, names))))

    def did(self, expr: ir.Did, env: TlaEnv) -> TlaTerm:
        """Whether a step is the action; in a step property."""
        if not self._counted.has(expr.action):
            return tla.FALSE
        action = self._model.action(expr.action)
        given = [self._e.term(arg, env) for arg in expr.args]
        names, _ = self.parameters(action, env.taken)
        step = self._call(action, [*given, *map(tla.atom, names[len(given) :])])
        return self._bound(action, step, given, env.taken)

    def possible(self, action: ir.Action) -> TlaTerm | None:
        """Whether some parameters pass the guards, and what is chosen at once has a choice.

        None where there is a choice that depends on what the action has done before.
        """
        ready = next((i for i, s in enumerate(action.body) if not isinstance(s, ir.Choose | ir.Bound)), None)
        first = action.body if ready is None else action.body[:ready]
        if any(map(chooses, action.body[len(first) :])):
            return None
        _, env = self.parameters(action)
        last = max((i for i, s in enumerate(first) if isinstance(s, ir.Choose)), default=-1)
        return self._bound(action, self._ready((*action.head, *first[: last + 1]), env, []))

    def _call(self, action: ir.Action, args: Sequence[TlaTerm]) -> TlaTerm:
        return tla.call(self._e.values.words.actions[action.name], *args)

    def _bound(
        self,
        action: ir.Action,
        body: TlaTerm,
        given: Sequence[TlaTerm] = (),
        taken: frozenset[str] = frozenset(),
    ) -> TlaTerm:
        """Something for some parameters of an action, of which the first may be given."""
        env, ranges, tests = self._now.among(*taken), [], []
        for index, param in enumerate(action.params):
            found = self._e.bind(param, env)
            if index < len(given):
                tests.append(tla.infix(r"\in", given[index], found.domain))
                tests += self._e.is_case(given[index], param)
                env = env.bound(param.slot, given[index], KnownRange())
            else:
                env = found.env
                ranges.append(found)
        for found in reversed(ranges):
            body = tla.quantified(r"\E", found.name, found.kept, body)
        return tla.both([*tests, body])

    def _ready(self, parts: Sequence[ir.Guard | ir.Stmt], env: TlaEnv, before: list[TlaTerm]) -> TlaTerm:
        """The conjunction of guards and choices, in the scope of the names that stand between them."""
        if not parts:
            return tla.both(before)
        first, *rest = parts
        match first:
            case ir.Guard(test=asked):
                return self._ready(rest, env, [*before, self._e.term(asked, env)])
            case ir.Bound(slot=slot, value=value):
                name = local(first.name, env.taken)
                term, known = self._e.term(value, env), self._e.knowledge.of(value, env.known)
                inner = self._ready(rest, env.bound(slot, tla.atom(name), known), [])
                return tla.both([*before, tla.let_term([tla.definition(name, (), term)], inner)])
            case ir.Choose():
                found = self._e.bind(first, env)
                body = self._ready(rest, found.env, found.tests)
                return tla.both([*before, tla.quantified(r"\E", found.name, found.domain, body)])
            case _:
                raise TypeError(f"{first} is neither a guard nor a choice")
