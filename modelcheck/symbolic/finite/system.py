"""A check as a machine over plain variables, and where each claim about it is false."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from modelcheck.claims import OF_RUNS
from modelcheck.engine import Refusal, Task
from modelcheck.flat.environment import Ends, Env
from modelcheck.flat.expressions import Expressions
from modelcheck.flat.machine import Machine, machine
from modelcheck.flat.shapes import Shapes
from modelcheck.flat.terms import Term
from modelcheck.memory import resident
from modelcheck.refused import NotExportable
from modelcheck.result import End, Findings, Result, Stats, Unknown
from modelcheck.symbolic.finite.formed import formed
from modelcheck.symbolic.retold import state_of
from spec.ir import Check, Property, PropertyKind
from spec.semantics import Machine as Semantics
from spec.source import Span

ERROR = ""  # the name of the claim that the model makes no error


@dataclass(frozen=True, slots=True)
class System:
    """The machine of a task, with as many faults as its budget allows counted in variables.

    `of_states` has for each claim about states those in which it is false; for a
    `reachable`, those that it asks for.  `of_steps` has for each claim about steps,
    ERROR among them, and each action that can break it, the states in which it does.
    `formed` are the values that are states.
    """

    machine: Machine
    of_states: Mapping[str, Term]
    of_steps: Mapping[str, Mapping[str, Term]]
    formed: Term

    @property
    def claims(self) -> tuple[str, ...]:
        """All claims by name, ERROR first."""
        return (*self.of_steps, *self.of_states)

    def bad(self, name: str) -> Term:
        """The states in which a claim is false, or from which a possible step breaks it."""
        if name in self.of_states:
            return self.of_states[name]
        return self.machine.terms.any(self.of_steps[name].values())

    def terms(self) -> Iterator[Term]:
        """All of them."""
        yield self.formed
        yield from map(self.bad, self.claims)

    def rules(self, action: str) -> list[int]:
        """The numbers of the rules that are steps of an action."""
        return [n for n, rule in enumerate(self.machine.rules) if rule.action == action]

    def actions(self) -> tuple[str, ...]:
        """The actions that have a rule, in the order of the model."""
        return tuple(dict.fromkeys(rule.action for rule in self.machine.rules if rule.guard.constant != 0))


def claims_of(task: Task) -> tuple[Property, ...]:
    """The properties asked about, and every lemma of the model, in the order of the model."""
    asked = {prop.name for prop in task.properties}
    return tuple(p for p in task.model.properties if p.name in asked or p.kind is PropertyKind.LEMMA)


@dataclass(frozen=True, slots=True)
class Systems:
    """Makes the systems of tasks, and remembers the last one."""

    _made: list[tuple[Task, System]] = field(default_factory=list)

    def refusals(self, task: Task) -> tuple[Refusal, ...]:
        """Properties of whole runs, symmetry, checkpoints; what is not plain. Costs the system."""
        of_runs = OF_RUNS | {PropertyKind.DEADLOCK_FREE}
        refused = [
            Refusal(f"{p.kind.value} {p.name}", "explicit") for p in task.properties if p.kind in of_runs
        ]
        if task.symmetry:
            refused.append(Refusal("symmetry: nothing is counted"))
        if task.keep is not None:
            refused.append(Refusal("checkpoints", "explicit"))
        if not refused:
            try:
                self.of(task)
            except NotExportable as problem:
                refused += [Refusal(each.what, "explicit") for each in problem.refused]
        return tuple(refused)

    def of(self, task: Task) -> System:
        """The system of a task. Raises NotExportable, or ModelError where the model cannot start."""
        if not self._made or self._made[0][0] is not task:
            self._made[:] = [(task, _system(task))]
        return self._made[0][1]


def _system(task: Task) -> System:
    only = tuple(prop.name for prop in claims_of(task))
    check = Check("", task.scope, task.budget, only, (), None, span=Span(0, 0))
    flat = _started(task, machine(task.model, check, for_solver=True))
    terms = flat.terms
    of_states = {name: terms.no(holds) for name, holds in flat.invariants}
    of_states |= {name: terms.any((test, _error(task, flat, name))) for name, test in flat.goals}
    broken: dict[str, dict[str, list[Term]]] = {ERROR: {}}
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


def _started(task: Task, flat: Machine) -> Machine:
    """The machine with the starts that the semantics has: not those that are beyond the scope."""
    real = set(Semantics(task.model, task.scope).initial())
    starts = tuple(start for start in flat.starts if state_of(task, flat.stored, start) in real)
    return replace(flat, starts=starts)


def _error(task: Task, flat: Machine, name: str) -> Term:
    """The states in which asking about a property is an error of the model."""
    terms, expr = flat.terms, task.model.property(name).expr
    env = Env(tuple(flat.stored), {}, terms.true, Ends(terms.false, terms.false))
    if expr is not None:
        Expressions(Shapes(terms, task.scope)).truth(expr, env)
    return env.ends.error


def interrupted(name: str, task: Task) -> Findings:
    """The findings of an engine that was stopped before it could ask anything."""
    results = tuple(Result(p.name, p.kind, Unknown(End.INTERRUPTED.value)) for p in task.properties)
    stats = Stats(0, 0, 0, (), {}, {}, (), (), 0.0, resident())
    return Findings(name, End.INTERRUPTED, results, stats, depth=0)
