"""What no run of so many steps can be in: cubes of facts, learned one by one, and questions under them.

Bradley (2011), "SAT-based model checking without unrolling"; Eén, Mishchenko and
Brayton (2011), "Efficient implementation of property directed reachability".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from modelcheck.grounding.terms import Term
from modelcheck.grounding.worth import worth
from modelcheck.symbolic.finite.facts import Fact
from modelcheck.symbolic.finite.orbits import Cube, Orbits
from modelcheck.symbolic.finite.system import System
from modelcheck.symbolic.formulas import Formula
from modelcheck.symbolic.solver import Answer, OneStep

MOST_ASIDE = 2000  # clauses that were needed for one question, before the solver is made anew
TRIES = 3  # states in the way that are excluded while a cube is made larger
FOREVER = 1 << 30

Values = tuple[int, ...]


class GaveUp(Exception):  # noqa: N818 - an answer
    """The solver did not tell; `answer` is what it said instead."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer


class Frames:
    """For each number of steps the cubes that no state of such a run is in.

    A cube that is excluded from runs of k steps is excluded from all shorter ones,
    and stands at the greatest k that is known.
    """

    def __init__(
        self,
        system: System,
        facts: Sequence[Fact],
        orbits: Orbits,
        memory: int | None,
        seconds: Callable[[], float | None],
    ) -> None:
        self.system, self.facts = system, facts
        self._orbits, self._memory, self._seconds = orbits, memory, seconds
        self.cubes: list[dict[Cube, None]] = [{}, {}]
        self.questions = 0
        self._starts = [self.facts_of(start) for start in system.machine.starts]
        self._begin()

    # --------------------------------------------------------------------- the solver

    def _begin(self) -> None:
        """A fresh solver that knows every cube."""
        system = self.system
        self._step = step = OneStep(
            system.machine, [fact.term for fact in self.facts], system.formed, self._memory
        )
        self._before = dict(self._both(step.before))
        self._after = dict(self._both(step.after))
        self._number = {step.identity(literal): n for n, literal in self._after.items()}
        self._number |= {step.identity(literal): n for n, literal in self._before.items()}
        self._bad = {name: step.name(f"bad {name}", system.bad(name)) for name in system.claims}
        self._levels = [step.new(f"level {n}") for n in range(len(self.cubes))]
        self._aside = 0
        for level, cubes in enumerate(self.cubes):
            for cube in cubes:
                self._tell(cube, level)

    def _both(self, literals: Sequence[Formula]) -> Iterator[tuple[int, Formula]]:
        for n, literal in enumerate(literals, 1):
            yield n, literal
            yield -n, self._step.no(literal)

    def _tell(self, cube: Cube, level: int) -> None:
        step = self._step
        step.clause([step.no(self._levels[level]), *(self._before[-n] for n in cube)])

    def _under(self, literals: Sequence[Formula]) -> bool:
        """Whether there is a step with all of these true. Raises GaveUp."""
        self.questions += 1
        answer = self._step.under(literals, self._seconds())
        if answer not in (Answer.YES, Answer.NO):
            raise GaveUp(answer)
        return answer is Answer.YES

    def _within(self, level: int) -> list[Formula]:
        """That the state before the step is that of a run of so many steps, as far as is known."""
        if level == 0:
            return [self._step.start]
        return self._levels[level:]

    def _once(self, literals: Iterable[Formula]) -> Formula:
        """A literal under which one of these is true, for one question."""
        if self._aside >= MOST_ASIDE:
            self._begin()
        step = self._step
        self._aside += 1
        name = step.new(f"once {self._aside}")
        step.clause([step.no(name), *literals])
        return name

    def _forget(self, name: Formula) -> None:
        self._step.clause([self._step.no(name)])

    # ------------------------------------------------------------------------ frames

    @property
    def last(self) -> int:
        """The greatest number of steps that is looked at."""
        return len(self.cubes) - 1

    def grow(self) -> None:
        """Look at runs of one step more."""
        self.cubes.append({})
        self._levels.append(self._step.new(f"level {self.last}"))

    def exclude(self, cube: Cube, level: int) -> None:
        """Exclude a cube from all runs of up to so many steps, under every name. See NOTE(orbits)."""
        for each in self._orbits.of(cube):
            if each in self.cubes[level]:
                continue
            for lower in range(1, level + 1):
                for known in [known for known in self.cubes[lower] if each <= known]:
                    del self.cubes[lower][known]
            self.cubes[level][each] = None
            self._tell(each, level)

    def excludes(self, state: Cube, level: int) -> bool:
        """Whether a cube is known to be in no run of so many steps."""
        return any(cube <= state for cubes in self.cubes[level:] for cube in cubes)

    def push(self) -> int | None:
        """Move every cube as far as it is true; the number of steps from which on nothing changes, if any."""
        for level in range(1, self.last):
            for cube in sorted(self.cubes[level], key=sorted):
                if cube in self.cubes[level] and self._stays_out(cube, level) is not None:
                    self.exclude(cube, level + 1)
            if not self.cubes[level]:
                return level
        return None

    # --------------------------------------------------------------------- questions

    def facts_of(self, values: Values) -> Cube:
        """All facts of a state."""
        known: dict[Term, int] = {}
        return frozenset(n if worth(fact.term, values, known) else -n for n, fact in enumerate(self.facts, 1))

    def starts_in(self, cube: Cube) -> bool:
        """Whether a run may start in a cube."""
        return any(cube <= start for start in self._starts)

    def first_in(self, cube: Cube) -> Values:
        """A start of runs that is in a cube."""
        starts = zip(self.system.machine.starts, self._starts, strict=True)
        return next(values for values, start in starts if cube <= start)

    def bad_state(self, names: Iterable[str]) -> tuple[str, Cube] | None:
        """A cube of states in which one of these claims is false, that runs of the last length may reach."""
        for name in names:
            if self._under([*self._within(self.last), self._bad[name]]):
                state = self.facts_of(self._step.values())
                good = self._step.no(self._bad[name])
                return name, self._enough(state, [good])
        return None

    def before(self, cube: Cube, level: int) -> tuple[Cube, int] | Cube:
        """A cube one step of a rule before this one in runs of fewer steps; or why there is none.

        In the first case with the number of the rule: all states of the cube lead to this one by it.
        In the other a part of the cube that is not reached either.
        """
        out = self._stays_out(cube, level - 1)
        if out is not None:
            return out
        state, rule = self.facts_of(self._step.values()), self._step.rule()
        name = self._once([self._step.no(self._step.possible[rule]), *(self._after[-n] for n in cube)])
        enough = self._enough(state, [name, self._step.takes[rule]])
        self._forget(name)
        return enough, rule

    def _enough(self, state: Cube, wrong: list[Formula]) -> Cube:
        """Facts of a state that alone exclude what is wrong of it."""
        ordered = sorted(state, key=lambda n: -self.facts[abs(n) - 1].rank)
        assumed = [*wrong, *(self._before[n] for n in ordered)]
        if self._under(assumed):
            raise AssertionError("facts that do not tell one state from another")
        core = self._step.core()
        return frozenset(self._number[each] for each in core if each in self._number)

    def _stays_out(self, cube: Cube, level: int) -> Cube | None:
        """The part of a cube that explains why no step leads there from elsewhere; None where one does."""
        name = self._once(self._before[-n] for n in cube)
        ordered = sorted(cube, key=lambda n: (-self.facts[abs(n) - 1].rank, n))
        after = [self._after[n] for n in ordered]
        out = None
        if not self._under([self._step.real, name, *self._within(level), *after]):
            core = self._step.core()
            out = self._apart({self._number[each] for each in core if each in self._number}, cube)
        self._forget(name)
        return out

    def _apart(self, part: set[int], cube: Cube) -> Cube:
        """A part of a cube in which no run starts, from one of which that is not known."""
        found = set(part)
        for start in self._starts:
            if found <= start:
                found.add(min((cube - start), key=lambda n: (self.facts[abs(n) - 1].rank, n)))
        return frozenset(found)

    # ---------------------------------------------------------------------- larger cubes

    def enlarge(self, cube: Cube, level: int, depth: int = 1) -> Cube:
        """A cube of as few facts as can be that is in no run of so many steps either."""
        ordered = sorted(cube, key=lambda n: (-self.facts[abs(n) - 1].rank, n))
        for literal in ordered:
            if literal not in cube:
                continue
            smaller = self._down(cube - {literal}, level, depth)
            if smaller is not None:
                cube = smaller
        return cube

    def _down(self, cube: Cube, level: int, depth: int) -> Cube | None:
        """The cube or a part of it, where no run of so many steps is in it; None where some may be.

        States in the way that are not reached in fewer steps are excluded on the way
        (Hassan, Bradley and Somenzi 2013, "Better generalization in IC3").
        """
        tries = TRIES if depth else 0
        while cube and not self.starts_in(cube):
            out = self._stays_out(cube, level - 1)
            if out is not None:
                return out
            if not tries or level < 2:
                return None
            tries -= 1
            state = self.facts_of(self._step.values())
            if self.starts_in(state):
                return None
            why = self._stays_out(state, level - 2)
            if why is None:
                return None
            self.exclude(self.enlarge(why, level - 1, depth - 1), level - 1)
        return None
