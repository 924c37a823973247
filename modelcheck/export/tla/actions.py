"""Actions as others speak of them: with some parameters, as a step taken, as one that is possible."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from itertools import takewhile

import modelcheck.export.tla.terms as tla
import spec.model.ir as ir
from modelcheck.export.known import KnownRange
from modelcheck.export.tla.expressions import TlaEnv, TlaExpressions
from modelcheck.export.tla.terms import TlaTerm
from modelcheck.grounding.budget import CountedBudget
from spec.model.walk import chooses

Part = ir.Param | ir.Guard | ir.Stmt


class Actions:
    """Writes actions as TLA+ formulas; `now` is the context of a state."""

    def __init__(
        self, expressions: TlaExpressions, model: ir.Model, counted: CountedBudget, now: TlaEnv
    ) -> None:
        self._e = expressions
        self._model = model
        self._counted = counted
        self._now = now

    def within(self, action: ir.Action) -> TlaEnv:
        """The context with an action's parameters."""
        return reduce(lambda env, param: self._e.bind(param, env).env, action.params, self._now)

    def some(self, action: ir.Action) -> TlaTerm:
        """The formula of the action with parameters existentially quantified."""
        return self._conjunction(action.params, self._now, [], partial(self._call, action))

    def did(self, expr: ir.Did, env: TlaEnv) -> TlaTerm:
        """The formula that a step is of the action with the given first parameters."""
        if not self._counted.has(expr.action):
            return tla.FALSE
        action = self._model.action(expr.action)
        given = [self._e.term(arg, env) for arg in expr.args]
        here, tests = self._now.among(*env.taken), []
        for param, term in zip(action.params, given, strict=False):
            tests.append(tla.infix(r"\in", term, self._e.bind(param, here).domain))
            tests += self._e.is_case(term, param)
            here = here.bound(param.slot, term, KnownRange())
        return self._conjunction(action.params[len(given) :], here, tests, partial(self._call, action))

    def possible(self, action: ir.Action) -> TlaTerm | None:
        """The formula that some parameters pass the guards and choices exist; None if it has none.

        None where there is a choice that depends on what the action has done before.
        """
        first = list(takewhile(lambda s: isinstance(s, ir.Choose | ir.Bound), action.body))
        if any(map(chooses, action.body[len(first) :])):
            return None
        last = max((i for i, s in enumerate(first) if isinstance(s, ir.Choose)), default=-1)
        parts = (*action.params, *action.head, *first[: last + 1])
        return self._conjunction(parts, self._now, [], lambda _: [])

    def _call(self, action: ir.Action, env: TlaEnv) -> list[TlaTerm]:
        """The arguments of a call of the action's operator."""
        args = [env.names[param.slot] for param in action.params]
        return [tla.call(self._e.values.words.actions[action.name], *args)]

    def _conjunction(
        self,
        parts: Sequence[Part],
        env: TlaEnv,
        before: list[TlaTerm],
        end: Callable[[TlaEnv], list[TlaTerm]],
    ) -> TlaTerm:
        """The conjunction of an action's head and an end, each in the context of the names before."""
        if not parts:
            return tla.both([*before, *end(env)])
        first, *rest = parts
        match first:
            case ir.Guard(test=asked):
                return self._conjunction(rest, env, [*before, self._e.term(asked, env)], end)
            case ir.Bound():
                definitions, inner = self._e.named(first, env)
                body = tla.let_term(definitions, self._conjunction(rest, inner, [], end))
                return tla.both([*before, body])
            case ir.Param():
                found = self._e.bind(first, env)
                body = self._conjunction(rest, found.env, [], end)
                return tla.both([*before, tla.quantified(r"\E", found.name, found.kept, body)])
            case ir.Choose():
                found = self._e.bind(first, env)
                body = self._conjunction(rest, found.env, found.tests, end)
                return tla.both([*before, tla.quantified(r"\E", found.name, found.domain, body)])
            case _:
                raise TypeError(f"{first} is neither a guard nor a choice")
