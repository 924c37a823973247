"""A check as a machine over plain variables, and where each claim about it is false."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from modelcheck.contract.engine import Task
from modelcheck.grounding.machine import GroundMachine, grounded
from modelcheck.grounding.terms import GroundTerm
from modelcheck.symbolic.answers import claims_of
from modelcheck.symbolic.finite.formed import formed
from modelcheck.symbolic.replayed import started
from spec.frozen import frozen
from spec.model.ir import Check, PropertyKind
from spec.source import Span

ERROR = ""  # the name of the claim that the model makes no error


@frozen
class System:
    """The machine of a task, with as many faults as its budget allows counted in variables.

    `of_states` has for each claim about states those in which it is false; for a
    `reachable`, those that it asks for, and those in which to ask is an error.
    `of_steps` has for each claim about steps, ERROR among them, and each action that
    can break it, the states in which it does.
    `formed` are the values that are states.
    """

    machine: GroundMachine
    of_states: Mapping[str, GroundTerm]
    of_steps: Mapping[str, Mapping[str, GroundTerm]]
    formed: GroundTerm

    @property
    def claims(self) -> tuple[str, ...]:
        """The names of all claims, ERROR first."""
        return (*self.of_steps, *self.of_states)

    def bad(self, name: str) -> GroundTerm:
        """The term of the states in which a claim is false, or a possible step violates it."""
        if name in self.of_states:
            return self.of_states[name]
        return self.machine.terms.any(self.of_steps[name].values())

    def terms(self) -> Iterator[GroundTerm]:
        """All terms of the system."""
        yield self.formed
        yield from map(self.bad, self.claims)

    def rules(self, action: str) -> list[int]:
        """The indices of the rules of an action."""
        return [n for n, rule in enumerate(self.machine.rules) if rule.action == action]

    def actions(self) -> tuple[str, ...]:
        """The actions that have a rule, in the order of the model."""
        return tuple(dict.fromkeys(rule.action for rule in self.machine.rules if rule.guard.constant != 0))


def system(task: Task) -> System:
    """The transition system of a task. Raises Inexpressible, or ModelError if the model cannot start."""
    only = tuple(prop.name for prop in claims_of(task))
    check = Check("", task.scope, task.budget, only, (), None, span=Span(0, 0))
    flat = started(task, grounded(task.model, check, for_solver=True))
    terms = flat.terms
    of_states = {name: terms.no(holds) for name, holds in flat.invariants}
    of_states |= dict(flat.goals)
    broken: dict[str, dict[str, list[GroundTerm]]] = {ERROR: {}}
    for prop in claims_of(task):
        if prop.kind in {PropertyKind.STEP, PropertyKind.ASSERT}:
            broken[prop.name] = {}
    for rule in flat.rules:
        wrong = [(ERROR, rule.error)]
        wrong += [(name, terms.both(rule.guard, terms.no(holds))) for name, holds in rule.claims]
        for name, test in wrong:
            if test.constant != 0:
                broken[name].setdefault(rule.action, []).append(test)
    of_steps = {
        name: {action: terms.any(tests) for action, tests in by.items()} for name, by in broken.items()
    }
    return System(flat, of_states, of_steps, formed(task.model, task.scope, flat.stored, terms))
