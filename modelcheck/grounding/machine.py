"""A check of a model over flat variables: numbers and truth values, and steps that change them all at once.

What Promela and Murphi have in common.  Every choice of an action's parameters
is a step of its own, and every quantifier is written out, so that a step is a
condition and for each variable that changes a term over those before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, count

import spec.model.ir as ir
from modelcheck.contract.families import looked_at
from modelcheck.contract.inexpressible import Construct, Inexpressible
from modelcheck.grounding.budget import CountedBudget, counted
from modelcheck.grounding.environment import Ends, GroundEnv, of_state
from modelcheck.grounding.expressions import CORE, GroundExpressions
from modelcheck.grounding.layout import FlatLayout, FlatVariable
from modelcheck.grounding.shapes import Shape, Shapes
from modelcheck.grounding.steps import MOST_RULES, GroundRule, RuleMaker, StepBranch, rule_of
from modelcheck.grounding.terms import GroundTerm, Terms
from spec.frozen import frozen
from spec.model.kinds import INVARIANTS

MOST_SIZE = 20_000  # of one condition, written out
EXAMPLES = {ir.PropertyKind.REACHABLE}
STEPS = {ir.PropertyKind.STEP, ir.PropertyKind.ASSERT}
TOTAL = (
    "the budget is for all faults together, so how many there were is part of the state here, and there are "
    "more states than modelcheck counts, which counts a state once"
)


@frozen
class GroundMachine:
    """A check as a transition system over flat variables: initial states, rules, properties.

    `broken` names the invariants that a first state breaks; `goals` are what a
    `reachable` asks for, or where asking makes an error.
    `stored` are the model's variables on top of the flat ones.
    With `tells_members` sets in places may be in the order that members of sorts have.
    """

    name: str
    flats: tuple[FlatVariable, ...]
    starts: tuple[tuple[int, ...], ...]
    rules: tuple[GroundRule, ...]
    invariants: tuple[tuple[str, GroundTerm], ...]
    broken: tuple[str, ...]
    goals: tuple[tuple[str, GroundTerm], ...]
    stored: tuple[Shape, ...]
    terms: Terms
    notes: tuple[str, ...]
    tells_members: bool = False


def grounded(
    model: ir.Model,
    check: ir.Check,
    keywords: frozenset[str] = frozenset(),
    *,
    for_solver: bool = False,
    in_places: bool = False,
) -> GroundMachine:
    """The check translated to flat variables, whose names are no keywords. Raises Inexpressible.

    What is made for a solver has numbers below 0, and steps of any size: it is never written out.
    With `in_places` small sets of many possible members, such as networks, are stored in a few places;
    one state then has many arrangements, of which a run shows one.
    """
    return _Lowering(model, check, keywords, for_solver=for_solver, in_places=in_places).machine()


class _Lowering:
    """Translates one check to a GroundMachine."""

    def __init__(
        self,
        model: ir.Model,
        check: ir.Check,
        keywords: frozenset[str],
        *,
        for_solver: bool,
        in_places: bool,
    ) -> None:
        self._model = model = CORE.model(model)
        self._check = check
        self._terms = Terms()
        self._shapes = Shapes(self._terms, check.scope)
        self._e = GroundExpressions(self._shapes, in_places=in_places)
        self._steps = RuleMaker(self._e, model)
        self._layout = FlatLayout(self._shapes, _namer(keywords), for_solver=for_solver, listed=in_places)
        self._most_size = None if for_solver else MOST_SIZE
        self._counted = counted(model, check.budget)
        self._refused: list[Construct] = []

    def machine(self) -> GroundMachine:
        """The translated check. Raises Inexpressible with all constructs that cannot be translated."""
        model, check = self._model, self._check
        stored = self._stored()
        counters = self._counters(self._counted)
        asked = looked_at(model, check)
        notes = [TOTAL] if self._counted.total is not None else []
        notes += [
            f"{prop.name} is left out: `{prop.kind.value}` asks for more than each state and step"
            for prop in asked
            if prop.kind not in INVARIANTS | STEPS | (EXAMPLES if self._most_size is None else set())
        ]
        if self._refused:
            raise Inexpressible(*self._refused)
        of_states = [p for p in asked if p.kind in INVARIANTS]
        invariants = [*self._invariants(of_states, stored)]
        frames = self._first()
        starts = self._starts(frames, stored)
        broken = [
            name
            for frame in frames
            for name, holds in self._invariants(of_states, frame.state)
            if holds.constant != 1
        ]
        steps = [p for p in asked if p.kind in STEPS]
        rules = [*self._rules(stored, counters, steps)]
        goals = [*self._goals([p for p in asked if p.kind in EXAMPLES], stored)]
        if self._refused:
            raise Inexpressible(*self._refused)
        flats = tuple(self._layout.flats)
        return GroundMachine(
            model.name,
            flats,
            starts,
            tuple(rules),
            tuple(invariants),
            tuple(dict.fromkeys(broken)),
            tuple(goals),
            tuple(stored),
            self._terms,
            tuple(notes),
            self._layout.tells_members,
        )

    def _refuse(self, reason: Inexpressible) -> None:
        """Record constructs that cannot be translated, each once."""
        self._refused += [each for each in reason.constructs if each not in self._refused]

    def _stored(self) -> list[Shape]:
        """The shapes of the model's variables, over flat variables."""
        stored = []
        for variable in self._model.variables:
            name = variable.name.removeprefix(f"{variable.owner}.")
            try:
                stored.append(self._layout.shape(variable.type, name))
            except Inexpressible as reason:
                self._refuse(reason.at(variable.span))
        return stored

    def _counters(self, budget: CountedBudget) -> dict[str, GroundTerm]:
        """The variables that count faults, by the kind of fault.

        Where the budget has a total, the key "" has the one for all kinds.
        """
        made = {name: self._layout.variable(f"faults_{name}", most) for name, most in budget.kinds.items()}
        if budget.total is not None:
            made[""] = self._layout.variable("faults", budget.total)
        return made

    def _invariants(
        self, of_states: Sequence[ir.Property], state: Sequence[Shape]
    ) -> Iterator[tuple[str, GroundTerm]]:
        """For each property its name and the term that it is true in a state, without an error."""
        for prop, holds, error in self._asked(of_states, state):
            yield prop.name, self._terms.both(holds, self._terms.no(error))

    def _goals(
        self, of_states: Sequence[ir.Property], state: Sequence[Shape]
    ) -> Iterator[tuple[str, GroundTerm]]:
        """For each property its name and the term that it is true in a state, or its evaluation an error."""
        for prop, holds, error in self._asked(of_states, state):
            yield prop.name, self._terms.any((holds, error))

    def _asked(
        self, of_states: Sequence[ir.Property], state: Sequence[Shape]
    ) -> Iterator[tuple[ir.Property, GroundTerm, GroundTerm]]:
        """For each property the term of its truth in a state, and that of its evaluation being an error."""
        for prop in of_states:
            if prop.expr is None:
                continue
            env = of_state(self._terms, state)
            try:
                yield prop, self._sized(self._e.truth(prop.expr, env), prop), env.ends.error
            except Inexpressible as reason:
                self._refuse(reason)

    def _first(self) -> list[StepBranch]:
        """The branches of the model's initialization: its initial states."""
        state: list[Shape] = []
        env = of_state(self._terms, ())
        try:
            for variable in self._model.variables:
                state.append(self._e.of(variable.init, replace(env, state=tuple(state))))
            frames = self._steps.run(self._model.init, StepBranch(state, {}, self._terms.true, env.ends))
        except Inexpressible as reason:
            self._refuse(reason)
            return []
        return [frame for frame in frames if frame.guard.constant != 0]

    def _starts(self, frames: list[StepBranch], stored: list[Shape]) -> tuple[tuple[int, ...], ...]:
        """The initial states as values of the flat variables; one that is not fixed is refused."""
        found = []
        for frame in frames:
            values = dict.fromkeys(range(len(self._layout.flats)), 0)
            for to, shape in zip(stored, frame.state, strict=True):
                for flat, value in self._layout.stores(to, shape):
                    if value.constant is None:
                        what = "a start that is not one fixed state"
                        self._refuse(Inexpressible(Construct(what, self._model.variables[0].span)))
                    values[flat.value] = value.lo
            found.append(tuple(values.values()))
        return tuple(dict.fromkeys(found))

    def _rules(
        self, stored: list[Shape], counters: dict[str, GroundTerm], steps: list[ir.Property]
    ) -> Iterator[GroundRule]:
        """The rules of all actions that the budget allows."""
        terms = self._terms
        asked = {prop.name for prop in steps}
        made = 0
        for action in self._counted.actions:
            try:
                for step, frame in self._steps.frames(action, stored):
                    rule = rule_of(self._layout, self._e, step, frame, stored, stored, self._claims(steps))
                    self._sized(rule.guard, action)
                    rule = replace(rule, claims=tuple(each for each in rule.claims if each[0] in asked))
                    if action.is_fault:
                        rule = self._paid(rule, action.name, counters)
                    if rule.guard.constant != 0 or rule.error.constant != 0:
                        made += 1
                        yield rule
                    if made > MOST_RULES:
                        self._refuse(
                            Inexpressible(Construct(f"a model of more than {MOST_RULES} steps", action.span))
                        )
                        return
            except Inexpressible as reason:
                self._refuse(reason.at(action.span))
        if not made and not self._refused:
            yield GroundRule("nothing", "", terms.false, terms.false, (), ())

    def _paid(self, rule: GroundRule, name: str, counters: dict[str, GroundTerm]) -> GroundRule:
        """The rule of a fault, possible only within the budget, with the counters of faults increased."""
        terms = self._terms
        for counter in [counters[key] for key in (name, "") if key in counters]:
            most = terms.number(counter.hi)
            more = (counter, terms.add(counter, terms.number(1)))
            can = terms.lt(counter, most)
            rule = replace(
                rule,
                guard=terms.both(rule.guard, can),
                error=terms.both(rule.error, can),
                changes=(*rule.changes, more),
            )
        return rule

    def _claims(self, steps: list[ir.Property]) -> Callable[[GroundEnv], tuple[tuple[str, GroundTerm], ...]]:
        """A function from a step's context to the names and terms of the `step` properties."""

        def claims(env: GroundEnv) -> tuple[tuple[str, GroundTerm], ...]:
            found = []
            for prop in steps:
                if prop.expr is not None:
                    ends = Ends(self._terms.false, self._terms.false)
                    holds = self._e.truth(prop.expr, replace(env, ends=ends))
                    found.append((prop.name, self._terms.both(holds, self._terms.no(ends.error))))
            return tuple(found)

        return claims

    def _sized(self, term: GroundTerm, of: ir.Action | ir.Property) -> GroundTerm:
        """The term itself, refused if it is too large to write out."""
        if self._most_size is not None and term.size > self._most_size:
            raise Inexpressible(
                Construct(f"`{of.name}`, which comes to {term.size} operations in one condition,", of.span)
            )
        return term


def _namer(keywords: frozenset[str]) -> Callable[[str], str]:
    """A function that turns a name into a legal identifier, different from keywords and all before."""
    taken = {word.lower() for word in keywords}

    def named(name: str) -> str:
        legal = re.sub(r"\W", "_", name, flags=re.ASCII)
        legal = legal if legal[:1].isalpha() else f"v{legal}"
        tries = chain((legal,), (f"{legal}_{n}" for n in count(2)))
        found = next(each for each in tries if each.lower() not in taken)
        taken.add(found.lower())
        return found

    return named
