"""IC3 (property-directed reachability): finds an inductive invariant automatically, clause by clause.

Bradley (2011), "SAT-based model checking without unrolling".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from time import monotonic
from typing import ClassVar

from counterexamples.trace import Erred, Trace
from modelcheck.contract.engine import Prepared, Refusal, Task
from modelcheck.contract.proof import Proof
from modelcheck.contract.report import Proving, Reporter, RunFound
from modelcheck.contract.result import End, Findings, Result, Unknown, Verdict
from modelcheck.grounding.term_values import term_value
from modelcheck.grounding.terms import GroundTerm
from modelcheck.symbolic.answers import STOPS, Clock, by_none, by_run, end_of, refusals_of, searched
from modelcheck.symbolic.finite.facts import facts
from modelcheck.symbolic.finite.frames import Frames, GaveUp, Values
from modelcheck.symbolic.finite.invariant import Clauses, ClauseWriter, NoInvariant, NotInductive
from modelcheck.symbolic.finite.orbits import Cube, CubeOrbits
from modelcheck.symbolic.finite.system import ERROR, System, system
from modelcheck.symbolic.interrupts import interruptible
from modelcheck.symbolic.replayed import replayed, state_of
from modelcheck.symbolic.solver import ENDS, version
from spec.frozen import frozen
from spec.model.ir import Property

EVERY = 0.5  # seconds between two words of how far it is


@dataclass(slots=True)
class Reachability:
    """An engine that proves properties for runs of any length within one scope, without lemmas.

    It looks for an inductive invariant: clauses of facts such as `r1.ep <= epoch`,
    each learned from a state that would break a property, and each under all names
    at once where the members of a sort are interchangeable.  What it finds is made
    small, checked again by a fresh solver, and written in the language.  A violation
    comes with a run, which may not be the shortest.  `seconds` are for each question.
    """

    name: ClassVar[str] = "ic3"

    seconds: float | None = None
    _prepared: Prepared[System] = field(default_factory=Prepared, repr=False, compare=False)

    def refusals(self, task: Task) -> tuple[Refusal, ...]:
        """What the engine cannot check of a task. Costs the encoding."""
        return refusals_of(task, self._system)

    def run(self, task: Task, reporter: Reporter) -> Findings:
        """The verdicts and proofs, up to a limit or Ctrl-C."""
        return searched(self.name, task, lambda: _Search(self, self._system(task), task, reporter))

    def _system(self, task: Task) -> System:
        """The task as a transition system, translated once."""
        return self._prepared.of(task, system)


@frozen
class _Obligation:
    """A proof obligation: a cube from which the rule leads into the cube of the next obligation."""

    cube: Cube
    rule: int | None = None
    next: _Obligation | None = None

    def rules(self) -> Iterator[int]:
        """The rules from here to the bad state, in order."""
        way: _Obligation | None = self
        while way is not None and way.rule is not None:
            yield way.rule
            way = way.next


class _Search:
    """One run of IC3: the frames, and what was found."""

    def __init__(self, wish: Reachability, system: System, task: Task, reporter: Reporter) -> None:
        self._wish, self._system, self._task, self._reporter = wish, system, task, reporter
        self._clock = Clock(task, wish.seconds)
        self._reported = monotonic()
        self._look_up: Callable[[], None] = lambda: None  # until the search begins
        self._facts = facts(task.model, task.scope, system.machine)
        self._orbits = CubeOrbits(task.model, task.scope, self._facts)
        self._frames = self._no_frames()
        self._clock.ready()
        self._open = [ERROR, *(prop.name for prop in task.properties)]
        self._shown: dict[str, Trace] = {}
        self._error: Trace | None = None
        self._lemmas: tuple[str, ...] = ()

    def _no_frames(self) -> Frames:
        """New frames without clauses."""
        return Frames(self._system, self._facts, self._orbits, self._task.limits.memory, self._seconds_left)

    # ------------------------------------------------------------------------ the search

    def _search(self) -> End:
        """Prove or refute the properties, and return why the search ended."""
        if not self._system.machine.starts:
            return End.COMPLETE
        try:
            with interruptible() as self._look_up:
                return self._prove()
        except (GaveUp, NoInvariant) as gave_up:
            return ENDS[gave_up.answer]
        except STOPS as stop:
            return end_of(stop)

    def _prove(self) -> End:
        """Add frame after frame until two neighbours are equal or a property is violated."""
        self._look_at_starts()
        while self._has_open():
            self._block_all()
            if self._error is not None or not self._has_open():
                break
            self._frames.add_frame()
            level = self._frames.propagate()
            self._report(now=True)
            if level is not None and self._is_invariant(level):
                return End.COMPLETE
        return End.ERROR if self._error is not None else End.DECIDED

    def _has_open(self) -> bool:
        """Whether a property is still undecided; always true where the check has none.

        Without properties the search is for errors of the model, until there is a proof or a run.
        """
        return self._open != [ERROR] or not self._task.properties

    def _look_at_starts(self) -> None:
        """Record the properties that initial states violate."""
        for values in self._system.machine.starts:
            for name in list(self._open):
                if term_value(self._system.bad(name), values):
                    self._show(name, [values], [])

    def _block_all(self) -> None:
        """Block every bad state of the last frame, or record a run to one."""
        while self._error is None:
            found = self._frames.bad_state(self._open)
            if found is None:
                return
            name, cube = found
            self._block(name, cube)

    def _block(self, name: str, cube: Cube) -> None:
        """Block a cube and all its predecessors, by a queue of obligations; or record a run through them."""
        frames, number = self._frames, 0  # no start is in the cube: those were looked at first
        queue = [(frames.last, number, _Obligation(cube))]
        while queue:
            self._report()
            level, _, obligation = heappop(queue)
            if frames.is_blocked(obligation.cube, level):
                if level < frames.last:
                    number += 1
                    heappush(queue, (level + 1, number, obligation))
                continue
            found = frames.predecessor(obligation.cube, level)
            if isinstance(found, tuple):
                predecessor = _Obligation(found[0], found[1], obligation)
                if frames.is_initial(predecessor.cube):
                    self._show_obligations(name, predecessor)
                    return
                number += 2
                heappush(queue, (level, number - 1, obligation))
                heappush(queue, (level - 1, number, predecessor))
                continue
            frames.block(frames.generalise(found, level), level)

    def _is_invariant(self, level: int) -> bool:
        """Whether the cubes give an inductive invariant; if not, restart without renamings."""
        groups = self._groups([cube for cubes in self._frames.cubes[level + 1 :] for cube in cubes])
        kept = self._needed_groups(groups)
        if kept is None:
            if self._orbits.whole:
                raise AssertionError("what was found is no invariant")
            self._orbits.forget()
            self._frames = self._no_frames()
            return False
        names = [flat.name for flat in self._system.machine.flats]
        writer = ClauseWriter(self._task.model, self._task.scope, self._facts, names)
        self._lemmas = tuple(writer.lemma(number, group[0]) for number, group in enumerate(kept, 1))
        return True

    def _needed_groups(self, groups: list[list[Cube]]) -> list[list[Cube]] | None:
        """The groups that an invariant needs, if a fresh solver confirms it; else None."""
        try:
            minimal = Clauses(self._system, self._facts, groups, self._seconds_left).minimal(self._open)
        except NotInductive:
            return None
        kept = [groups[n] for n in minimal]
        return (
            kept if Clauses(self._system, self._facts, kept, self._seconds_left).check(self._open) else None
        )

    def _groups(self, cubes: list[Cube]) -> list[list[Cube]]:
        """The cubes in groups: each with its renamings."""
        found: list[list[Cube]] = []
        seen: set[Cube] = set()
        for cube in sorted(cubes, key=lambda cube: (len(cube), sorted(cube))):
            if cube not in seen:
                found.append([cube, *(each for each in self._orbits.of(cube) if each != cube)])
                seen.update(found[-1])
        return found

    # ---------------------------------------------------------------------- what is shown

    def _show_obligations(self, name: str, obligation: _Obligation) -> None:
        """Record the run from an initial state along a chain of obligations."""
        states, rules = [self._frames.initial_state(obligation.cube)], list(obligation.rules())
        for rule in rules:
            states.append(self._after(states[-1], rule))
        self._show(name, states, rules)

    def _after(self, values: Values, rule: int) -> Values:
        """The successor of a state by a rule."""
        known: dict[GroundTerm, int] = {}
        changes = self._system.machine.rules[rule].changes
        changed = {flat.value: term_value(value, values, known) for flat, value in changes}
        return tuple(changed.get(n, value) for n, value in enumerate(values))

    def _show(self, name: str, values: list[Values], rules: list[int]) -> None:
        """Record what a run shows: a violation of property `name`, or an error of the model."""
        task, machine = self._task, self._system.machine
        last = None
        if name in self._system.of_steps:
            tests = self._system.of_steps[name].items()
            last = next((action,) for action, test in tests if term_value(test, values[-1]))
        states = [state_of(machine.stored, each) for each in values]
        wanted = task.model.property(name) if name else None
        trace = replayed(task, states, [machine.rules[rule].action for rule in rules], wanted, last)
        if isinstance(trace.ending, Erred):
            self._error = trace
            return
        self._shown[name] = trace
        self._open.remove(name)
        self._reporter.tell(RunFound(name, trace.faults, len(trace.steps)))

    # ---------------------------------------------------------------------------- limits

    def _seconds_left(self) -> float | None:
        """The seconds a question may take. Raises Over, or KeyboardInterrupt, if no time is left."""
        self._look_up()
        return self._clock.left()

    def _report(self, *, now: bool = False) -> None:
        """Report progress, at intervals or `now`."""
        if now or monotonic() - self._reported > EVERY:
            self._reported = monotonic()
            frames = self._frames
            cubes = sum(map(len, frames.cubes))
            self._reporter.tell(Proving(frames.last, cubes, frames.questions, self._clock.seconds))

    # -------------------------------------------------------------------------- findings

    def findings(self) -> Findings:
        """Run the search, and return its findings."""
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
        """The verdict on a property after a search that ended by `end`."""
        trace = self._shown.get(prop.name)
        if trace is not None:
            return by_run(self._task, prop, trace)
        if end is End.COMPLETE:
            return by_none(self._task, prop)
        return Unknown(end.value)
