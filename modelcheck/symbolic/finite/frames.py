"""The frames of IC3: for each number of steps the cubes that are blocked, and the solver that knows them.

Bradley (2011), "SAT-based model checking without unrolling"; Eén, Mishchenko and
Brayton (2011), "Efficient implementation of property directed reachability".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from modelcheck.grounding.term_values import term_value
from modelcheck.grounding.terms import GroundTerm
from modelcheck.symbolic.finite.facts import StateFact
from modelcheck.symbolic.finite.orbits import Cube, CubeOrbits
from modelcheck.symbolic.finite.system import System
from modelcheck.symbolic.formulas import Formula
from modelcheck.symbolic.solver import OneStep, SolverAnswer

MOST_TEMPORARY = 2000  # clauses for a single query, before the solver is replaced
MOST_CTGS = 3  # counterexamples to generalisation that are blocked for one cube

Values = tuple[int, ...]


class GaveUp(Exception):  # noqa: N818 - an answer
    """Raised when the solver answers neither yes nor no; `answer` is its answer."""

    def __init__(self, answer: SolverAnswer) -> None:
        self.answer = answer


class Frames:
    """Frame k holds the cubes that are blocked up to k steps: no run of at most k steps reaches them.

    A cube is stored once, in the frame of the greatest k that is known for it.
    """

    def __init__(
        self,
        system: System,
        facts: Sequence[StateFact],
        orbits: CubeOrbits,
        memory: int | None,
        seconds: Callable[[], float | None],
    ) -> None:
        self.system, self.facts = system, facts
        self._orbits, self._memory, self._seconds = orbits, memory, seconds
        self.cubes: list[dict[Cube, None]] = [{}, {}]
        self.questions = 0
        self._starts = [self.facts_of(start) for start in system.machine.starts]
        self._new_solver()

    # --------------------------------------------------------------------- the solver

    def _new_solver(self) -> None:
        """Make a fresh solver that knows every blocked cube."""
        system = self.system
        self._step = step = OneStep(
            system.machine, [fact.term for fact in self.facts], system.formed, self._memory, self._seconds
        )
        self._before = dict(self._both(step.before))
        self._after = dict(self._both(step.after))
        self._number = {step.identity(literal): n for n, literal in self._after.items()}
        self._number |= {step.identity(literal): n for n, literal in self._before.items()}
        self._bad = {name: step.name(f"bad {name}", system.bad(name)) for name in system.claims}
        self._levels = [step.new(f"level {n}") for n in range(len(self.cubes))]
        self._temporary = 0
        for level, cubes in enumerate(self.cubes):
            for cube in cubes:
                self._add_clause(cube, level)

    def _both(self, literals: Sequence[Formula]) -> Iterator[tuple[int, Formula]]:
        """Each literal's number with the formulas of the fact and of its negation, in order."""
        for n, literal in enumerate(literals, 1):
            yield n, literal
            yield -n, self._step.no(literal)

    def _add_clause(self, cube: Cube, level: int) -> None:
        """Give the solver the clause that excludes a cube in a frame."""
        step = self._step
        step.clause([step.no(self._levels[level]), *(self._before[-n] for n in cube)])

    def _is_satisfiable(self, literals: Sequence[Formula]) -> bool:
        """Whether some step satisfies all the literals. Raises GaveUp."""
        self.questions += 1
        answer = self._step.under(literals, self._seconds())
        if answer not in (SolverAnswer.YES, SolverAnswer.NO):
            raise GaveUp(answer)
        return answer is SolverAnswer.YES

    def _frame(self, level: int) -> list[Formula]:
        """The assumptions that the state before the step is in a frame."""
        if level == 0:
            return [self._step.start]
        return self._levels[level:]

    def _activation(self, literals: Iterable[Formula]) -> Formula:
        """An activation literal for a clause that serves one query; `_release` retires it."""
        if self._temporary >= MOST_TEMPORARY:
            self._new_solver()
        step = self._step
        self._temporary += 1
        name = step.new(f"once {self._temporary}")
        step.clause([step.no(name), *literals])
        return name

    def _release(self, name: Formula) -> None:
        """Remove a temporary clause by its activation literal."""
        self._step.clause([self._step.no(name)])

    # ------------------------------------------------------------------------ frames

    @property
    def last(self) -> int:
        """The number of the last frame."""
        return len(self.cubes) - 1

    def add_frame(self) -> None:
        """Add an empty frame, for runs of one step more."""
        self.cubes.append({})
        self._levels.append(self._step.new(f"level {self.last}"))

    def block(self, cube: Cube, level: int) -> None:
        """Block a cube up to a number of steps, with all its renamings. See NOTE(orbits)."""
        for each in self._orbits.of(cube):
            if each in self.cubes[level]:
                continue
            for lower in range(1, level + 1):
                for known in [known for known in self.cubes[lower] if each <= known]:
                    del self.cubes[lower][known]
            self.cubes[level][each] = None
            self._add_clause(each, level)

    def is_blocked(self, state: Cube, level: int) -> bool:
        """Whether a cube is blocked up to a number of steps."""
        return any(cube <= state for cubes in self.cubes[level:] for cube in cubes)

    def propagate(self) -> int | None:
        """Move every cube to the last frame in which it is still inductive.

        Returns a frame that equals the next one, which makes it an inductive invariant, if there is any.
        """
        for level in range(1, self.last):
            for cube in sorted(self.cubes[level], key=sorted):
                if cube in self.cubes[level] and self._unreached_part(cube, level) is not None:
                    self.block(cube, level + 1)
            if not self.cubes[level]:
                return level
        return None

    # --------------------------------------------------------------------- questions

    def facts_of(self, values: Values) -> Cube:
        """The cube of all facts of a state: its full description by literals."""
        known: dict[GroundTerm, int] = {}
        return frozenset(
            n if term_value(fact.term, values, known) else -n for n, fact in enumerate(self.facts, 1)
        )

    def is_initial(self, cube: Cube) -> bool:
        """Whether some initial state is in a cube."""
        return any(cube <= start for start in self._starts)

    def initial_state(self, cube: Cube) -> Values:
        """An initial state that is in a cube."""
        starts = zip(self.system.machine.starts, self._starts, strict=True)
        return next(values for values, start in starts if cube <= start)

    def bad_state(self, names: Iterable[str]) -> tuple[str, Cube] | None:
        """A property of these and a cube of the last frame whose states violate it; None if there is none."""
        for name in names:
            if self._is_satisfiable([*self._frame(self.last), self._bad[name]]):
                state = self.facts_of(self._step.values())
                good = self._step.no(self._bad[name])
                return name, self._sufficient_facts(state, [good])
        return None

    def predecessor(self, cube: Cube, level: int) -> tuple[Cube, int] | Cube:
        """A cube of the frame before from which rule number n leads into the cube, with n.

        All states of the predecessor lead into the cube by that rule.  Where there is none, the part
        of the cube (its unsatisfiable core) that is not reached either.
        """
        out = self._unreached_part(cube, level - 1)
        if out is not None:
            return out
        state, rule = self.facts_of(self._step.values()), self._step.rule()
        name = self._activation([self._step.no(self._step.possible[rule]), *(self._after[-n] for n in cube)])
        enough = self._sufficient_facts(state, [name, self._step.takes[rule]])
        self._release(name)
        return enough, rule

    def _sufficient_facts(self, state: Cube, wrong: list[Formula]) -> Cube:
        """A part of a state's cube of whose states none satisfies `wrong` (by an unsatisfiable core)."""
        ordered = sorted(state, key=lambda n: -self.facts[abs(n) - 1].rank)
        assumed = [*wrong, *(self._before[n] for n in ordered)]
        if self._is_satisfiable(assumed):
            raise AssertionError("facts that do not distinguish states")
        core = self._step.core()
        return frozenset(self._number[each] for each in core if each in self._number)

    def _unreached_part(self, cube: Cube, level: int) -> Cube | None:
        """The part of a cube that no step from outside reaches (relative induction), or None."""
        name = self._activation(self._before[-n] for n in cube)
        ordered = sorted(cube, key=lambda n: (-self.facts[abs(n) - 1].rank, n))
        after = [self._after[n] for n in ordered]
        out = None
        if not self._is_satisfiable([self._step.real, name, *self._frame(level), *after]):
            core = self._step.core()
            out = self._without_starts({self._number[each] for each in core if each in self._number}, cube)
        self._release(name)
        return out

    def _without_starts(self, part: set[int], cube: Cube) -> Cube:
        """The literals of `part`, with more of the cube's until no initial state satisfies them."""
        found = set(part)
        for start in self._starts:
            if found <= start:
                found.add(min((cube - start), key=lambda n: (self.facts[abs(n) - 1].rank, n)))
        return frozenset(found)

    # -------------------------------------------------------------------- generalisation

    def generalise(self, cube: Cube, level: int, depth: int = 1) -> Cube:
        """A subset of the cube's literals that can still be blocked at the level."""
        ordered = sorted(cube, key=lambda n: (-self.facts[abs(n) - 1].rank, n))
        for literal in ordered:
            if literal not in cube:
                continue
            smaller = self._down(cube - {literal}, level, depth)
            if smaller is not None:
                cube = smaller
        return cube

    def _down(self, cube: Cube, level: int, depth: int) -> Cube | None:
        """The cube or a part of it that can be blocked at the level; None if there is none.

        Counterexamples to generalisation that are not reached in fewer steps are blocked themselves
        (Hassan, Bradley and Somenzi 2013, "Better generalization in IC3").
        """
        tries = MOST_CTGS if depth else 0
        while cube and not self.is_initial(cube):
            out = self._unreached_part(cube, level - 1)
            if out is not None:
                return out
            if not tries or level < 2:
                return None
            tries -= 1
            state = self.facts_of(self._step.values())
            if self.is_initial(state):
                return None
            why = self._unreached_part(state, level - 2)
            if why is None:
                return None
            self.block(self.generalise(why, level - 1, depth - 1), level - 1)
        return None
