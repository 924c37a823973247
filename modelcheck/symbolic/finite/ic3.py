"""Property-directed reachability: the engine finds by itself what else is true, clause by clause.

Bradley (2011), "SAT-based model checking without unrolling".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from time import monotonic
from typing import ClassVar

from counterexamples.trace import Erred, Trace
from modelcheck.contract.engine import Refusal, Task
from modelcheck.contract.proof import Proof
from modelcheck.contract.report import Found as Told
from modelcheck.contract.report import Proving, Reporter
from modelcheck.contract.result import End, Findings, Result, Unknown, Verdict
from modelcheck.grounding.terms import Term
from modelcheck.grounding.worth import worth
from modelcheck.symbolic.answers import Clock, Made, Over, by_none, by_run, searched
from modelcheck.symbolic.finite.facts import facts
from modelcheck.symbolic.finite.frames import Frames, GaveUp, Values
from modelcheck.symbolic.finite.invariant import Clauses, NoInvariant, NotKept, Teller
from modelcheck.symbolic.finite.orbits import Cube, Orbits
from modelcheck.symbolic.finite.system import ERROR, System, system
from modelcheck.symbolic.interrupts import interruptible
from modelcheck.symbolic.replayed import replayed, state_of
from modelcheck.symbolic.solver import ENDS, version
from spec.frozen import frozen
from spec.ir import Property

EVERY = 0.5  # seconds between two words of how far it is


@dataclass(slots=True)
class Reachability:
    """An engine that proves properties for runs of any length within one scope, without lemmas.

    It looks for an inductive invariant: clauses of facts such as `r1.ep <= epoch`,
    each learned from a state that would break a property, and each under all names
    at once where the members of a sort are interchangeable.  What it finds is made
    small, checked again by a fresh solver, and written in the language.  A violation
    comes with a run, which need not be the shortest.  `seconds` are for each question.
    """

    name: ClassVar[str] = "ic3"

    seconds: float | None = None
    _systems: Made[System] = field(default_factory=lambda: Made(system), repr=False, compare=False)

    def refusals(self, task: Task) -> tuple[Refusal, ...]:
        """Properties of whole runs, symmetry, checkpoints; what is not plain. Costs the encoding."""
        return self._systems.refusals(task)

    def run(self, task: Task, reporter: Reporter) -> Findings:
        """What is proved and what is violated, up to a limit or Ctrl-C."""
        return searched(self.name, task, lambda: _Search(self, self._systems.of(task), task, reporter))


@frozen
class _Way:
    """A cube from which steps of rules lead to a state that breaks a claim: by this rule to the next one."""

    cube: Cube
    rule: int | None = None
    next: _Way | None = None

    def rules(self) -> Iterator[int]:
        """The rules, in order."""
        way: _Way | None = self
        while way is not None and way.rule is not None:
            yield way.rule
            way = way.next


class _Search:
    """One search: the frames, and what was found."""

    def __init__(self, wish: Reachability, system: System, task: Task, reporter: Reporter) -> None:
        self._wish, self._system, self._task, self._reporter = wish, system, task, reporter
        self._clock = Clock(task, wish.seconds)
        self._told = monotonic()
        self._facts = facts(task.model, task.scope, system.machine)
        self._orbits = Orbits(task.model, task.scope, self._facts)
        self._frames = self._no_frames()
        self._clock.ready()
        self._open = [ERROR, *(prop.name for prop in task.properties)]
        self._shown: dict[str, Trace] = {}
        self._error: Trace | None = None
        self._lemmas: tuple[str, ...] = ()

    def _no_frames(self) -> Frames:
        return Frames(self._system, self._facts, self._orbits, self._task.limits.memory, self._left)

    # ------------------------------------------------------------------------ the search

    def _search(self) -> End:
        if not self._system.machine.starts:
            return End.COMPLETE
        try:
            with interruptible() as self._look_up:
                return self._prove()
        except Over as over:
            return over.end
        except (GaveUp, NoInvariant) as gave_up:
            return ENDS[gave_up.answer]
        except KeyboardInterrupt:
            return End.INTERRUPTED

    def _prove(self) -> End:
        """Runs of one step, of two, and so on, until nothing that was learned changes any more."""
        self._look_at_starts()
        while self._is_open():
            self._block_all()
            if self._error is not None or not self._is_open():
                break
            self._frames.grow()
            level = self._frames.push()
            self._tell(now=True)
            if level is not None and self._is_invariant(level):
                return End.COMPLETE
        return End.ERROR if self._error is not None else End.DECIDED

    def _is_open(self) -> bool:
        """Whether a property is open; where none was asked about, whether the model makes an error is."""
        return self._open != [ERROR] or not self._task.properties

    def _look_at_starts(self) -> None:
        for values in self._system.machine.starts:
            for name in list(self._open):
                if worth(self._system.bad(name), values):
                    self._show(name, [values], [])

    def _block_all(self) -> None:
        """Exclude every state that breaks a claim from the runs of the last length, or show a run to one."""
        while self._error is None:
            found = self._frames.bad_state(self._open)
            if found is None:
                return
            name, cube = found
            self._block(name, cube)

    def _block(self, name: str, cube: Cube) -> None:
        """Exclude a cube, and all cubes that lead there; or show a run through them."""
        frames, number = self._frames, 0
        if frames.starts_in(cube):
            self._show_way(name, _Way(cube))
            return
        waiting = [(frames.last, number, _Way(cube))]
        while waiting:
            self._tell()
            level, _, way = heappop(waiting)
            if frames.excludes(way.cube, level):
                if level < frames.last:
                    number += 1
                    heappush(waiting, (level + 1, number, way))
                continue
            found = frames.before(way.cube, level)
            if isinstance(found, tuple):
                earlier = _Way(found[0], found[1], way)
                if frames.starts_in(earlier.cube):
                    self._show_way(name, earlier)
                    return
                number += 2
                heappush(waiting, (level, number - 1, way))
                heappush(waiting, (level - 1, number, earlier))
                continue
            frames.exclude(frames.enlarge(found, level), level)

    def _is_invariant(self, level: int) -> bool:
        """Whether what was found keeps itself; if not, all begins anew under one name. NOTE(orbits)."""
        groups = self._groups([cube for cubes in self._frames.cubes[level + 1 :] for cube in cubes])
        kept = self._kept(groups)
        if kept is None:
            if self._orbits.whole:
                raise AssertionError("what was found is no invariant")
            self._orbits.forget()
            self._frames = self._no_frames()
            return False
        names = [flat.name for flat in self._system.machine.flats]
        teller = Teller(self._task.model, self._task.scope, self._facts, names)
        self._lemmas = tuple(teller.lemma(number, group[0]) for number, group in enumerate(kept, 1))
        return True

    def _kept(self, groups: list[list[Cube]]) -> list[list[Cube]] | None:
        """Those of these that are needed for an invariant, if a fresh solver agrees that it is one."""
        try:
            needed = Clauses(self._system, self._facts, groups, self._left).needed(self._open)
        except NotKept:
            return None
        kept = [groups[n] for n in needed]
        return kept if Clauses(self._system, self._facts, kept, self._left).check(self._open) else None

    def _groups(self, cubes: list[Cube]) -> list[list[Cube]]:
        """The cubes, each with what it becomes under other names."""
        found: list[list[Cube]] = []
        seen: set[Cube] = set()
        for cube in sorted(cubes, key=lambda cube: (len(cube), sorted(cube))):
            if cube not in seen:
                found.append([cube, *(each for each in self._orbits.of(cube) if each != cube)])
                seen.update(found[-1])
        return found

    # ---------------------------------------------------------------------- what is shown

    def _show_way(self, name: str, way: _Way) -> None:
        """The run from a start in the first cube by the rules of a way."""
        states, rules = [self._frames.first_in(way.cube)], list(way.rules())
        for rule in rules:
            states.append(self._after(states[-1], rule))
        self._show(name, states, rules)

    def _after(self, values: Values, rule: int) -> Values:
        """What a rule makes of a state."""
        known: dict[Term, int] = {}
        changes = self._system.machine.rules[rule].changes
        changed = {flat.value: worth(value, values, known) for flat, value in changes}
        return tuple(changed.get(n, value) for n, value in enumerate(values))

    def _show(self, name: str, values: list[Values], rules: list[int]) -> None:
        """Take a run for what it shows."""
        task, machine = self._task, self._system.machine
        last = None
        if name in self._system.of_steps:
            tests = self._system.of_steps[name].items()
            last = next((action,) for action, test in tests if worth(test, values[-1]))
        states = [state_of(task, machine.stored, each) for each in values]
        wanted = task.model.property(name) if name else None
        trace = replayed(task, states, [machine.rules[rule].action for rule in rules], wanted, last)
        if isinstance(trace.ending, Erred):
            self._error = trace
            return
        self._shown[name] = trace
        self._open.remove(name)
        self._reporter.tell(Told(name, trace.faults, len(trace.steps)))

    # ---------------------------------------------------------------------------- limits

    def _left(self) -> float | None:
        """How long a question may take. Raises Over, or KeyboardInterrupt, where none is to be asked."""
        self._look_up()
        return self._clock.left()

    def _tell(self, *, now: bool = False) -> None:
        if now or monotonic() - self._told > EVERY:
            self._told = monotonic()
            frames = self._frames
            cubes = sum(map(len, frames.cubes))
            self._reporter.tell(Proving(frames.last, cubes, frames.questions, self._clock.seconds))

    # -------------------------------------------------------------------------- findings

    def findings(self) -> Findings:
        """The search, and what is known of each property after it."""
        end = self._search()
        stats = self._clock.stats(self._frames.last)
        results = tuple(Result(p.name, p.kind, self._verdict(p, end)) for p in self._task.properties)
        proof, depth = None, None
        if end is not End.COMPLETE:
            shown = [len(trace.steps) for trace in self._shown.values()]
            depth = max([self._frames.last - 1, *shown])
        else:
            proof = Proof(tuple(self._open), (), (), version(), within_scope=True, found=self._lemmas)
        return Findings(self._wish.name, end, results, stats, self._error, proof=proof, depth=depth)

    def _verdict(self, prop: Property, end: End) -> Verdict:
        trace = self._shown.get(prop.name)
        if trace is not None:
            return by_run(self._task, prop, trace)
        if end is End.COMPLETE:
            return by_none(self._task, prop)
        return Unknown(end.value)
