"""z3, and the only module that knows it: a machine over plain variables, unrolled step by step.

Everything is finite: numbers are bit vectors, wide enough for every term that
there is, so nothing overflows.  A step is a choice of one rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import z3

from modelcheck.flat.machine import Machine
from modelcheck.flat.steps import Rule
from modelcheck.flat.terms import Sign, Term

Formula = Any  # of z3, which has no types


class Answer(Enum):
    """What a solver says of a question."""

    YES = "satisfiable"
    NO = "unsatisfiable"
    GAVE_UP = "unknown"
    INTERRUPTED = "interrupted"
    NO_MEMORY = "out of memory"


@dataclass(frozen=True, slots=True)
class Found:
    """A run that the solver found: the values of all variables in each state, and the rules between them."""

    states: tuple[tuple[int, ...], ...]
    rules: tuple[Rule, ...]


def version() -> str:
    """Which solver this is."""
    return f"z3 {z3.get_version_string()}"


class Unrolling:
    """The runs of a machine, as far as they have been unrolled, and questions about them.

    Costs memory for each step; a question may take for ever, so it is given seconds.
    `others` are terms to ask about that are not the machine's own.
    """

    def __init__(self, machine: Machine, memory: int | None = None, others: Iterable[Term] = ()) -> None:
        if memory is not None:
            z3.set_param("memory_max_size", max(64, memory >> 20))
        self._machine = machine
        self._rules = machine.rules
        self._width = _width(machine, others)
        self._made: dict[Term, Formula] = {}
        self._now = [self._variable(f"now{n}", flat.most) for n, flat in enumerate(machine.flats)]
        self._next = [self._variable(f"next{n}", flat.most) for n, flat in enumerate(machine.flats)]
        self._fires = [z3.Bool(f"fires{n}") for n in range(len(self._rules))]
        self._step = self._transition()
        self.restart()

    def restart(self, among: Term | None = None) -> None:
        """Look at the runs of no step again, whatever was assumed of them; the machine's formulas stay.

        With `among` runs may start in any state of which that is true.
        """
        self._solver = z3.SolverFor("QF_FD")
        self._states = [self._fresh(0)]
        self._fired: list[list[Formula]] = []
        if among is None:
            self._solver.add(z3.Or([self._is(self._states[0], start) for start in self._machine.starts]))
        else:
            self._solver.add(*self._bounds(self._states[0]), self.at(among, 0))

    @property
    def depth(self) -> int:
        """How many steps the runs have."""
        return len(self._fired)

    # -------------------------------------------------------------------- the machine

    def _variable(self, name: str, most: int | None) -> Formula:
        return z3.Bool(name) if most is None else z3.BitVec(name, max(1, most.bit_length()))

    def _fresh(self, time: int) -> list[Formula]:
        return [self._variable(f"s{time}_{n}", flat.most) for n, flat in enumerate(self._machine.flats)]

    def _is(self, state: Sequence[Formula], values: Sequence[int]) -> Formula:
        pairs = zip(self._machine.flats, state, values, strict=True)
        return z3.And([x == (bool(value) if flat.most is None else value) for flat, x, value in pairs])

    def _bounds(self, state: Sequence[Formula]) -> Iterable[Formula]:
        """That numbers are not beyond their greatest value, as far as their bits go."""
        for flat, x in zip(self._machine.flats, state, strict=True):
            if flat.most is not None and flat.most != 2 ** x.size() - 1:
                yield z3.ULE(x, flat.most)

    def _transition(self) -> Formula:
        """That one rule takes the state now to the next one."""
        parts: list[Formula] = [z3.Or(self._fires), z3.AtMost(*self._fires, 1)]
        changed: dict[int, list[Formula]] = {}
        for fires, rule in zip(self._fires, self._rules, strict=True):
            parts.append(z3.Implies(fires, self._of(rule.guard)))
            for flat, value in rule.changes:
                changed.setdefault(flat.value, []).append(fires)
                parts.append(z3.Implies(fires, self._next[flat.value] == self._stored(flat, value)))
        for index, (now, after) in enumerate(zip(self._now, self._next, strict=True)):
            parts.append(z3.Or([after == now, *changed.get(index, [])]))
        return z3.And(parts)

    def _stored(self, flat: Term, value: Term) -> Formula:
        """A value in as many bits as its variable has, which it fits."""
        made = self._of(value)
        return made if flat.truth else z3.Extract(self._next[flat.value].size() - 1, 0, made)

    def _of(self, term: Term) -> Formula:
        """A term over the state now. Each is made once; deep terms are made without deep recursion."""
        stack = [term]
        while stack:
            top = stack[-1]
            if top in self._made:
                stack.pop()
                continue
            waiting = [arg for arg in top.args if arg not in self._made]
            if waiting:
                stack.extend(waiting)
                continue
            self._made[top] = self._formula(top, [self._made[arg] for arg in top.args])
            stack.pop()
        return self._made[term]

    def _formula(self, term: Term, args: list[Formula]) -> Formula:  # noqa: C901 - by sign
        match term.sign:
            case Sign.CONST if term.truth:
                return z3.BoolVal(bool(term.lo))
            case Sign.CONST:
                return z3.BitVecVal(term.lo, self._width)
            case Sign.VAR if term.truth:
                return self._now[term.value]
            case Sign.VAR:
                stored = self._now[term.value]
                return z3.ZeroExt(self._width - stored.size(), stored)
            case Sign.NOT:
                return z3.Not(args[0])
            case Sign.AND:
                return z3.And(args)
            case Sign.OR:
                return z3.Or(args)
            case Sign.EQ:
                return args[0] == args[1]
            case Sign.LT:
                return args[0] < args[1]
            case Sign.ADD:
                return args[0] + args[1]
            case Sign.SUB:
                return args[0] - args[1]
            case Sign.MUL:
                return args[0] * args[1]
            case Sign.DIV:
                return z3.UDiv(args[0], args[1])
            case Sign.MOD:
                return z3.URem(args[0], args[1])
            case Sign.ITE:
                return z3.If(args[0], args[1], args[2])

    # ------------------------------------------------------------------------ growing

    def grow(self) -> None:
        """Make the runs one step longer."""
        time = len(self._states)
        before, after = self._states[-1], self._fresh(time)
        fires = [z3.Bool(f"f{time}_{n}") for n in range(len(self._rules))]
        pairs = [
            *zip(self._now, before, strict=True),
            *zip(self._next, after, strict=True),
            *zip(self._fires, fires, strict=True),
        ]
        self._solver.add(z3.substitute(self._step, pairs))
        self._states.append(after)
        self._fired.append(fires)

    def at(self, term: Term, time: int) -> Formula:
        """That something is true of the state after so many steps."""
        return z3.substitute(self._of(term), *zip(self._now, self._states[time], strict=True))

    # ---------------------------------------------------------------------- questions

    def holds(self, term: Term) -> Formula:
        """That something is true of the last state."""
        return self.at(term, self.depth)

    def stepped(self, tests: Mapping[int, Term]) -> Formula:
        """That the last step was one of these rules, by its number, and the rule's test true before it."""
        time = self.depth - 1
        return z3.Or([z3.And(self._fired[time][n], self.at(test, time)) for n, test in tests.items()])

    def last_step(self, rules: Iterable[int]) -> Formula:
        """That the last step was one of these rules."""
        return z3.Or([self._fired[-1][n] for n in rules])

    def new_state(self) -> Formula:
        """That the last state is none of those before it."""
        *others, last = self._states
        return z3.And([z3.Or([x != y for x, y in zip(each, last, strict=True)]) for each in others])

    def first_state(self, starts: Iterable[int]) -> Formula:
        """That the first state is one of these first states of the machine, by its number."""
        return z3.Or([self._is(self._states[0], self._machine.starts[n]) for n in starts])

    def at_most(self, rules: Iterable[int], most: int) -> Formula:
        """That no more than so many steps were one of these rules."""
        numbers = list(rules)
        fired = [fires[n] for fires in self._fired for n in numbers]
        return z3.AtMost(*fired, most) if len(fired) > most else z3.BoolVal(val=True)

    @staticmethod
    def either(formulas: Iterable[Formula]) -> Formula:
        """That some of them are true."""
        return z3.Or(list(formulas))

    @staticmethod
    def all(formulas: Iterable[Formula]) -> Formula:
        """That all of them are true."""
        return z3.And(list(formulas))

    @staticmethod
    def no(formula: Formula) -> Formula:
        """That it is not true."""
        return z3.Not(formula)

    def named(self, formula: Formula) -> Formula:
        """The same under a name of its own, for a formula that others are made of."""
        name = z3.FreshBool()
        self._solver.add(name == formula)
        return name

    def assume(self, formula: Formula) -> None:
        """Look only at runs of which it is true, from now on."""
        self._solver.add(formula)

    def refute(self, formula: Formula) -> None:
        """Look only at runs of which it is not true, from now on."""
        self._solver.add(z3.Not(formula))

    def ask(self, *formulas: Formula, seconds: float | None = None) -> Answer:
        """Whether some run makes all of them true."""
        self._solver.set("timeout", 2**32 - 1 if seconds is None else max(1, int(seconds * 1000)))
        self._solver.push()
        try:
            self._solver.add(*formulas)
            answer = self._solver.check()
            if answer == z3.sat:
                self._model = self._solver.model()
                return Answer.YES
            if answer == z3.unsat:
                return Answer.NO
            return _gave_up(self._solver.reason_unknown())
        except z3.Z3Exception as problem:
            return _gave_up(str(problem))
        finally:
            self._solver.pop()

    def found(self) -> Found:
        """The run that the last question found."""
        states = tuple(tuple(self._value(x) for x in state) for state in self._states)
        rules = tuple(
            next(rule for rule, fires in zip(self._rules, fired, strict=True) if self._value(fires))
            for fired in self._fired
        )
        return Found(states, rules)

    def _value(self, x: Formula) -> int:
        value = self._model.eval(x, model_completion=True)
        return int(z3.is_true(value)) if z3.is_bool(value) else int(value.as_long())


def _width(machine: Machine, others: Iterable[Term]) -> int:
    """How many bits hold every number that any term comes to, with its sign."""
    seen: set[Term] = set()
    stack: list[Term] = [term for rule in machine.rules for term in _terms(rule)]
    stack += [*others, *(term for _, term in (*machine.invariants, *machine.goals))]
    most = max((flat.most or 1 for flat in machine.flats), default=1)
    while stack:
        term = stack.pop()
        if term not in seen:
            seen.add(term)
            stack.extend(term.args)
            if not term.truth:
                most = max(most, term.hi, -term.lo)
    return most.bit_length() + 1


def _terms(rule: Rule) -> Iterable[Term]:
    yield from (rule.guard, rule.error)
    yield from (term for _, term in rule.claims)
    yield from (value for _, value in rule.changes)


def _gave_up(reason: str) -> Answer:
    if "interrupt" in reason or "ctrl-c" in reason.lower():
        return Answer.INTERRUPTED
    return Answer.NO_MEMORY if "memory" in reason else Answer.GAVE_UP
