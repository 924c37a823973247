"""z3, which only this and `formulas` know: a machine over plain variables, unrolled step by step.

A step is a choice of one rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import combinations

from modelcheck.contract.result import End
from modelcheck.grounding.machine import GroundMachine
from modelcheck.grounding.steps import GroundRule
from modelcheck.grounding.terms import GroundTerm
from modelcheck.symbolic.formulas import (
    Atoms,
    Formula,
    Formulas,
    Number,
    State,
    every,
    false,
    implies,
    in_c,
    no,
    some,
    true,
)
from modelcheck.symbolic.interrupts import let_go_silently
from modelcheck.symbolic.z3_library import z3
from spec.frozen import frozen

let_go_silently()

FEW = 8  # values of a number; then there is a clause for each two that not both are true


class SolverAnswer(Enum):
    """The answer of a solver to a question."""

    YES = "satisfiable"
    NO = "unsatisfiable"
    GAVE_UP = "unknown"
    INTERRUPTED = "interrupted"
    NO_MEMORY = "out of memory"


ENDS = {
    SolverAnswer.INTERRUPTED: End.INTERRUPTED,
    SolverAnswer.NO_MEMORY: End.MEMORY,
    SolverAnswer.GAVE_UP: End.SECONDS,
}


@frozen
class SolverRun:
    """A run from the solver: the values of the variables in each state, and the rules between them."""

    states: tuple[tuple[int, ...], ...]
    rules: tuple[GroundRule, ...]


def version() -> str:
    """The name and version of z3."""
    return f"z3 {z3.get_version_string()}"


class Unrolling:
    """The runs of a machine of a growing number of steps, as formulas, and questions about them.

    Costs memory for each step; a question may take for ever, so it is given seconds.
    `others` are terms to ask about that are not the machine's own.  `look` is called while formulas are
    made, and may raise.
    """

    def __init__(
        self,
        machine: GroundMachine,
        memory: int | None = None,
        others: Iterable[GroundTerm] = (),
        look: Callable[[], object] = lambda: None,
    ) -> None:
        if memory is not None:
            z3.set_param("memory_max_size", max(64, memory >> 20))
        self._machine = machine
        self._rules = machine.rules
        self._now = self._fresh("now")
        self._next = self._fresh("next")
        self._fires = [z3.Bool(f"fires{n}") for n in range(len(self._rules))]
        self._terms = Formulas(self._now, look)
        self._step = self._transition()
        for term in others:
            self._terms.made(term)
        self.restart()

    def restart(self, among: GroundTerm | None = None) -> None:
        """Go back to runs of 0 steps and drop assumptions; the formulas of the machine are kept.

        With `among` runs may start in any state of which that is true.
        """
        self._solver = z3.SolverFor("QF_FD")
        self._states = [self._fresh("s0")]
        self._fired: list[list[Formula]] = []
        self._solver.add(*_one_value(self._states[0]))
        if among is None:
            self._solver.add(some(self._is(self._states[0], start) for start in self._machine.starts))
        else:
            self._solver.add(self.at(among, 0))

    @property
    def depth(self) -> int:
        """The number of steps of the runs."""
        return len(self._fired)

    # -------------------------------------------------------------------- the machine

    def _fresh(self, name: str) -> State:
        """A new state: unknown values for all variables."""
        return [
            z3.Bool(f"{name}_{n}")
            if flat.most is None
            else tuple(z3.Bool(f"{name}_{n}_{value}") for value in range(flat.most + 1))
            for n, flat in enumerate(self._machine.flats)
        ]

    @staticmethod
    def _is(state: State, values: Sequence[int]) -> Formula:
        """The formula that a state has these values."""
        pairs = zip(state, values, strict=True)
        return every(x[value] if isinstance(x, tuple) else x if value else no(x) for x, value in pairs)

    def _transition(self) -> Formula:
        """The formula that one rule leads from the current state to the next."""
        pairs = zip(self._fires, self._rules, strict=True)
        possible = [implies(fires, self._terms.truth(rule.guard)) for fires, rule in pairs]
        return z3.And([z3.Or(self._fires), *possible, *self._effects()])

    def _effects(self) -> Iterator[Formula]:
        """The formulas that at most one rule is taken, and of its assignments."""
        yield z3.AtMost(*self._fires, 1)
        yield from _one_value(self._next)
        changed: dict[int, list[Formula]] = {}
        alike: dict[tuple[GroundTerm, GroundTerm], list[Formula]] = {}
        for fires, rule in zip(self._fires, self._rules, strict=True):
            for flat, value in rule.changes:
                changed.setdefault(flat.value, []).append(fires)
                alike.setdefault((flat, value), []).append(fires)
        for (flat, value), by in alike.items():
            now_so = _becomes(self._terms.made(value), self._next[flat.value])
            taken = some(by)
            yield from (implies(every([taken, test]), same) for test, same in now_so)
        for index, (now, after) in enumerate(zip(self._now, self._next, strict=True)):
            yield from (some([*changed.get(index, []), same]) for same in _stays(now, after))

    # ------------------------------------------------------------------------ growing

    def grow(self) -> None:
        """Extend the runs by one step."""
        time = len(self._states)
        before, after = self._states[-1], self._fresh(f"s{time}")
        fires = [z3.Bool(f"f{time}_{n}") for n in range(len(self._rules))]
        pairs = [
            *zip(_atoms(self._now), _atoms(before), strict=True),
            *zip(_atoms(self._next), _atoms(after), strict=True),
            *zip(self._fires, fires, strict=True),
        ]
        self._solver.add(z3.substitute(self._step, pairs))
        self._states.append(after)
        self._fired.append(fires)

    def at(self, term: GroundTerm, time: int) -> Formula:
        """The formula that a term is true in the state at a time."""
        pairs = zip(_atoms(self._now), _atoms(self._states[time]), strict=True)
        return z3.substitute(self._terms.truth(term), *pairs)

    # ---------------------------------------------------------------------- questions

    def holds(self, term: GroundTerm) -> Formula:
        """The formula that a term is true in the last state."""
        return self.at(term, self.depth)

    def stepped(self, tests: Mapping[int, GroundTerm]) -> Formula:
        """The formula that the last step is by one of these rules, with its test true before it."""
        time = self.depth - 1
        return some(z3.And(self._fired[time][n], self.at(test, time)) for n, test in tests.items())

    def last_step(self, rules: Iterable[int]) -> Formula:
        """The formula that the last step is by one of these rules."""
        return some(self._fired[-1][n] for n in rules)

    def new_state(self) -> Formula:
        """The formula that the last state differs from all before it."""
        *others, last = self._states
        pairs = [zip(_atoms(each), _atoms(last), strict=True) for each in others]
        return every(some(x != y for x, y in each) for each in pairs)

    def first_state(self, starts: Iterable[int]) -> Formula:
        """The formula that the first state is one of these initial states, by index."""
        return some(self._is(self._states[0], self._machine.starts[n]) for n in starts)

    def at_most(self, rules: Iterable[int], most: int) -> Formula:
        """The formula that at most `most` steps are by these rules."""
        if most < 0:
            return false()
        numbers = list(rules)
        fired = [fires[n] for fires in self._fired for n in numbers]
        return z3.AtMost(*fired, most) if len(fired) > most else true()

    @staticmethod
    def either(formulas: Iterable[Formula]) -> Formula:
        """The disjunction of the formulas."""
        return some(formulas)

    @staticmethod
    def all(formulas: Iterable[Formula]) -> Formula:
        """The conjunction of the formulas."""
        return every(formulas)

    @staticmethod
    def no(formula: Formula) -> Formula:
        """The negation of a formula."""
        return no(formula)

    def named(self, formula: Formula) -> Formula:
        """A literal that is defined as the formula, to share it in larger ones."""
        name = z3.FreshBool()
        self._solver.add(name == formula)
        return name

    def assume(self, formula: Formula) -> None:
        """Restrict the runs to those that satisfy the formula, from now on."""
        self._solver.add(formula)

    def refute(self, formula: Formula) -> None:
        """Restrict the runs to those that violate the formula, from now on."""
        self._solver.add(no(formula))

    def ask(self, *formulas: Formula, seconds: float | None = None) -> SolverAnswer:
        """The solver's answer whether some run satisfies all the formulas."""
        self._solver.set("timeout", 2**32 - 1 if seconds is None else max(1, int(seconds * 1000)))
        self._solver.push()
        try:
            self._solver.add(*formulas)
            answer = self._solver.check()
            if answer == z3.sat:
                self._model = self._solver.model()
                return SolverAnswer.YES
            if answer == z3.unsat:
                return SolverAnswer.NO
            return _gave_up(self._solver.reason_unknown())
        except z3.Z3Exception as problem:
            return _gave_up(str(problem))
        finally:
            self._solver.pop()

    def found(self) -> SolverRun:
        """The run of the last positive answer."""
        states = tuple(tuple(self._value(x) for x in state) for state in self._states)
        rules = tuple(
            next(rule for rule, fires in zip(self._rules, fired, strict=True) if self._value(fires))
            for fired in self._fired
        )
        return SolverRun(states, rules)

    def _value(self, x: Formula | Atoms) -> int:
        """The value of a variable in the solver's model."""
        if isinstance(x, tuple):
            return next(value for value, has in enumerate(x) if self._value(has))
        return int(z3.is_true(self._model.eval(x, model_completion=True)))


def _becomes(made: Formula | Number, after: Formula | Atoms) -> Iterator[tuple[Formula, Formula]]:
    """Pairs of a condition and the formula that the variable is the new value under it."""
    if isinstance(after, tuple):
        yield from ((test, after[n]) for n, test in made.items() if 0 <= n < len(after))
    else:
        yield true(), after == made


def _stays(now: Formula | Atoms, after: Formula | Atoms) -> Iterator[Formula]:
    """The formulas that a variable is unchanged."""
    if isinstance(now, tuple):
        yield from (implies(x, y) for x, y in zip(now, after, strict=True))
    else:
        yield now == after


def _one_value(state: State) -> Iterator[Formula]:
    """The formulas that each number has exactly one value."""
    for x in state:
        if isinstance(x, tuple):
            yield z3.Or(x)
            if len(x) <= FEW:
                yield from (z3.Or(no(a), no(b)) for a, b in combinations(x, 2))
            else:
                yield z3.AtMost(*x, 1)


def _atoms(state: State) -> Iterator[Formula]:
    """The Boolean variables of a state."""
    for x in state:
        if isinstance(x, tuple):
            yield from x
        else:
            yield x


def _gave_up(reason: str) -> SolverAnswer:
    """The answer that z3's reason for no answer means."""
    if "interrupt" in reason or "ctrl-c" in reason.lower():
        return SolverAnswer.INTERRUPTED
    return SolverAnswer.NO_MEMORY if "memory" in reason else SolverAnswer.GAVE_UP


class OneStep(Unrolling):
    """Any state and a step from it, asked about under literals: what has a name, or the opposite of it.

    `before` and `after` are the names of facts, true of the state before the step
    and after it, in the order given.  The step is one of the machine only where `real`
    is assumed; without it a rule changes a state whether it is possible or not.
    With `other` another part of the solver answers, to check the answer of the usual one.
    """

    def __init__(
        self,
        machine: GroundMachine,
        facts: Sequence[GroundTerm],
        among: GroundTerm,
        memory: int | None = None,
        look: Callable[[], object] = lambda: None,
        *,
        other: bool = False,
    ) -> None:
        super().__init__(machine, memory, [*facts, among], look)
        self._solver = z3.SimpleSolver() if other else z3.SolverFor("QF_FD")
        self._states = [self._now, self._next]
        self._solver.add(*_one_value(self._now), self._terms.truth(among))
        self._limit: float | None = None
        self.real, self.start = self.new("real"), self.new("start")
        self.takes = self._fires
        self.possible = [self.new(f"possible{n}") for n in range(len(self._rules))]
        for possible, rule in zip(self.possible, self._rules, strict=True):
            self._solver.add(possible == self._terms.truth(rule.guard))
        self._solver.add(*self._changes())
        self._solver.add(implies(self.start, some(self._is(self._now, s) for s in machine.starts)))
        self.before = [self.new(f"before{n}") for n in range(len(facts))]
        self.after = [self.new(f"after{n}") for n in range(len(facts))]
        for names, terms in ((self.before, self._terms), (self.after, Formulas(self._next, look))):
            pairs = zip(names, facts, strict=True)
            self._solver.add([name == terms.truth(fact) for name, fact in pairs])

    def _transition(self) -> Formula:
        """Nothing: there is no other step, and the solver is given its parts singly."""
        return true()

    def _changes(self) -> Iterable[Formula]:
        """The formulas of the rules' assignments, and that the rule of a real step is enabled."""
        real = [no(self.real)]
        yield z3.Or([*real, *self._fires])
        for fires, possible in zip(self._fires, self.possible, strict=True):
            yield z3.Or([*real, no(fires), possible])
        yield from self._effects()

    @staticmethod
    def new(name: str) -> Formula:
        """A new literal."""
        return z3.Bool(name)

    def name(self, name: str, term: GroundTerm) -> Formula:
        """A literal defined as a term being true before the step."""
        made = self.new(name)
        self._solver.add(made == self._terms.truth(term))
        return made

    # What follows is asked thousands of times, so it goes to z3 by its C functions, which ask no types.

    def clause(self, literals: Iterable[Formula]) -> None:
        """Assume a clause, from now on."""
        count, array = in_c([*literals])
        ref = self._solver.ctx.ref()
        z3.Z3_solver_assert(ref, self._solver.solver, z3.Z3_mk_or(ref, count, array))

    def under(self, literals: Iterable[Formula], seconds: float | None = None) -> SolverAnswer:
        """The solver's answer whether some step satisfies all the literals."""
        if seconds != self._limit:
            self._limit = seconds
            self._solver.set("timeout", 2**32 - 1 if seconds is None else max(1, int(seconds * 1000)))
        count, array = in_c([*literals])
        try:
            ref = self._solver.ctx.ref()
            answer = z3.Z3_solver_check_assumptions(ref, self._solver.solver, count, array)
        except z3.Z3Exception as problem:
            return _gave_up(str(problem))
        self._model = None
        if answer == z3.sat.r:
            return SolverAnswer.YES
        return SolverAnswer.NO if answer == z3.unsat.r else _gave_up(self._solver.reason_unknown())

    def core(self) -> set[int]:
        """The ids of the literals in the unsatisfiable core of the last NO."""
        core, ref = self._solver.unsat_core(), self._solver.ctx.ref()
        asts = (z3.Z3_ast_vector_get(ref, core.vector, n) for n in range(len(core)))
        return {z3.Z3_get_ast_id(ref, ast) for ast in asts}

    @staticmethod
    def identity(literal: Formula) -> int:
        """The id of a literal, as in `core`."""
        return int(literal.get_id())

    def values(self) -> tuple[int, ...]:
        """The values of the variables before the step that was found."""
        self._model = self._model or self._solver.model()
        return tuple(self._value(x) for x in self._now)

    def rule(self) -> int:
        """The index of the rule of the step that was found."""
        self._model = self._model or self._solver.model()
        return next(n for n, fires in enumerate(self._fires) if self._value(fires))
