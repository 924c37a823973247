"""Steps of a run taken again, without some of them or from elsewhere: does it still end in the same way?

NOTE(rerun): steps are taken again in their order.  One that is not possible is
left out.  One that is possible with the choices it had is taken with these, else
with each of the choices that there are, so that several runs may be followed side
by side: no more than MOST_RUNS, of those that come to the same state the first,
and none that cannot take a step that another one can.  It is over as soon as one
of them shows the ending; a run that goes round for ever, or that has no way back,
shows it only when all steps have been taken.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from counterexamples.certify import NotReplayable, certify
from counterexamples.trace import (
    BadAssert,
    BadState,
    BadStep,
    Deadlocked,
    Ending,
    Erred,
    Example,
    Lasso,
    Trace,
    Trapped,
)
from modelcheck.diagnosis.traps import Traps
from spec.frozen import frozen
from spec.meaning.semantics import Machine, State, Step, Taken
from spec.model.ir import Property, PropertyKind
from spec.model.values import ModelError

MOST_RUNS = 100  # runs followed side by side, where choices make several
MEMO = 50_000  # states and actions whose steps are remembered

Wanted = Iterable[tuple[int, Step]]
"""Steps to take again, each with its number in the trace they are from, counted from 0."""


@frozen
class RunPrefix:
    """A prefix of a run as a linked list: the state, its last step, and the prefix before."""

    state: State
    before: RunPrefix | None = None
    number: int = -1
    step: Step | None = None

    def back(self) -> Iterator[RunPrefix]:
        """This prefix and all shorter ones."""
        prefix: RunPrefix | None = self
        while prefix is not None:
            yield prefix
            prefix = prefix.before


@frozen
class ReplayResult:
    """The result of replaying steps: the run with the wanted ending, or where it failed.

    `run` is a run that ends as it must, None where none does, and `kept` the numbers
    of its steps.  `refused` is the first step that was not possible, and the state it
    was not possible in; None where all were.
    """

    run: Trace | None
    kept: tuple[int, ...]
    refused: tuple[int, State] | None


class ReplayStage:
    """Replays steps in the model and scope of a trace, towards its ending.

    The same ending is the same kind of ending by the same property or assert; for
    an error of the model, the same code at the same place of the text.  `look` is
    called before each step, and may end it all by an exception.
    """

    def __init__(self, trace: Trace, look: Callable[[], None] = lambda: None) -> None:
        self.machine = Machine(trace.model, trace.scope)
        self.trace = trace
        self._look = look
        self._known: dict[tuple[State, str], tuple[Taken, ...]] = {}
        self.traps = Traps(self.machine, self._property, look) if isinstance(trace.ending, Trapped) else None

    def course(self, run: Trace) -> Course:
        """A run with the wanted ending, up to where it first has it."""
        whole = Course(self, run)
        found = whole.replay_all().run
        return whole if found is None else Course(self, found)

    def replay(
        self, starts: Iterable[RunPrefix], wanted: Wanted, onto: Course | None = None, since: int = 0
    ) -> ReplayResult:
        """Replay steps from any of the initial states, by NOTE(rerun).

        With `onto`, a run that ends as it must, a run that reaches a state of it by the same
        step, of number `since` or later, continues like that one.  Costs the steps of one action
        in each state.
        """
        prefixes: dict[State, RunPrefix] = {}
        for prefix in starts:
            if (ending := self.shows(None, None, prefix.state)) is not None:
                return _replay(self._run(prefix, ending), prefix, None)
            if len(prefixes) < MOST_RUNS:
                prefixes.setdefault(prefix.state, prefix)
        if not prefixes:
            return ReplayResult(None, (), None)
        refused: tuple[int, State] | None = None
        for number, step in wanted:
            reached: dict[State, RunPrefix] = {}
            for prefix in prefixes.values():
                for taken in self._again(prefix.state, step):
                    after = RunPrefix(taken.state, prefix, number, taken.step)
                    if (ending := self.shows(prefix.state, taken, taken.state)) is not None:
                        return _replay(self._run(after, ending), after, refused)
                    if len(reached) < MOST_RUNS:
                        reached.setdefault(taken.state, after)
            if not reached and refused is None:
                refused = number, next(iter(prefixes))
            prefixes = reached or prefixes
            if onto is not None and number >= since and (joined := onto.rest(prefixes, number)) is not None:
                return _replay(self._run(joined, onto.run.ending), joined, refused)
        return self._whole(prefixes.values(), refused)

    def takings(self, state: State, action: str) -> tuple[Taken, ...]:
        """The steps of an action in a state within the scope, up to the first error."""
        key = state, action
        if key not in self._known:
            if len(self._known) >= MEMO:
                self._known.clear()
            self._known[key] = tuple(self._possible(state, action))
        return self._known[key]

    def _possible(self, state: State, action: str) -> Iterator[Taken]:
        """The steps of an action in a state."""
        try:
            yield from (s for s in self.machine.steps(state, actions=(action,)) if isinstance(s, Taken))
        except ModelError:
            return

    def _again(self, state: State, step: Step) -> Iterable[Taken]:
        """The same step; else those of its action and parameters with other choices."""
        self._look()
        found = [taken for taken in self.takings(state, step.action) if taken.step.args == step.args]
        return [taken for taken in found if taken.step == step] or found

    # ------------------------------------------------------------------ endings

    def shows(self, before: State | None, taken: Taken | None, state: State) -> Ending | None:
        """The wanted ending, if the last step or state has it; else None."""
        ending, machine = self.trace.ending, self.machine
        try:
            match ending:
                case Deadlocked() if self.trace.property is None:
                    found = not machine.can_go_on(state)
                case BadState() | Deadlocked():
                    found = not machine.holds(self._property, state)
                case Example():
                    found = machine.holds(self._property, state)
                case BadStep():
                    found = (
                        before is not None
                        and taken is not None
                        and not machine.step_holds(self._property, before, taken.step, state)
                    )
                case BadAssert():
                    found = taken is not None and self.trace.property in taken.broken
                case Erred():
                    return self._errs(ending, before, taken, state)
                case _:
                    found = False
        except ModelError:
            return None
        return ending if found else None

    @property
    def _property(self) -> Property:
        """The property of the wanted ending."""
        return self.trace.model.property(self.trace.property or "")

    def _errs(self, sought: Erred, before: State | None, taken: Taken | None, state: State) -> Erred | None:
        """The same error of the model, perhaps with other values; else None."""
        try:
            if self.trace.property is None:
                for _ in self.machine.steps(
                    state, None, None if sought.step is None else (sought.step.action,)
                ):
                    pass
            elif self._property.kind is not PropertyKind.STEP:
                self.machine.holds(self._property, state)
            elif before is not None and taken is not None:
                self.machine.step_holds(self._property, before, taken.step, state)
        except ModelError as error:
            if (error.code, error.span) == (sought.code, sought.span):
                return Erred(error.code, error.message, error.span, error.step)
        return None

    def _whole(self, prefixes: Iterable[RunPrefix], refused: tuple[int, State] | None) -> ReplayResult:
        """The result for endings that only a whole run shows: a lasso or a trap."""
        for prefix in prefixes:
            if self.traps is not None and self.traps.has(prefix.state):
                return _replay(self._run(prefix, Trapped()), prefix, refused)
            if (
                isinstance(self.trace.ending, Lasso)
                and (run := _lasso(self._run(prefix, Lasso(0)))) is not None
            ):
                return _replay(run, prefix, refused)
        return ReplayResult(None, (), refused)

    def _run(self, prefix: RunPrefix, ending: Ending) -> Trace:
        """The trace to a prefix's end."""
        prefixes = tuple(prefix.back())[::-1]
        steps = tuple(each.step for each in prefixes if each.step is not None)
        return replace(self.trace, states=tuple(each.state for each in prefixes), steps=steps, ending=ending)


def _replay(run: Trace, prefix: RunPrefix, refused: tuple[int, State] | None) -> ReplayResult:
    """The result with a run."""
    return ReplayResult(run, tuple(each.number for each in prefix.back() if each.before)[::-1], refused)


def _lasso(run: Trace) -> Trace | None:
    """The run as a lasso with the shortest violating cycle; None if it is none."""
    for at in range(len(run.states) - 1, -1, -1):
        if run.states[at] == run.states[-1]:
            try:
                return certify(replace(run, ending=Lasso(at))).trace
            except NotReplayable:
                continue
    return None


def from_the_end(numbers: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    """Consecutive parts of a size, the last first, so that removals keep earlier indices."""
    for end in range(len(numbers), 0, -size):
        yield numbers[max(0, end - size) : end]


class Course:
    """A run to replay with some steps left out or replaced."""

    def __init__(self, stage: ReplayStage, run: Trace) -> None:
        self.run = run
        self.stage = stage
        self._prefixes = [RunPrefix(run.states[0])]
        for number, (step, state) in enumerate(zip(run.steps, run.states[1:], strict=True)):
            self._prefixes.append(RunPrefix(state, self._prefixes[-1], number, step))
        if stage.traps is not None:
            stage.traps.trust(run.states[-1])

    def replay_all(self) -> ReplayResult:
        """Replay all steps up to the wanted ending."""
        return self.stage.replay(self._prefixes[:1], enumerate(self.run.steps))

    def without(self, out: Collection[int]) -> ReplayResult:
        """Replay without the steps with these indices from 0."""
        first, last = min(out), max(out)
        wanted = ((n, s) for n, s in enumerate(self.run.steps[first:], first) if n not in out)
        return self.stage.replay([self._prefixes[first]], wanted, self, last + 1)

    def instead(self, number: int, step: Step) -> ReplayResult:
        """Replay with another step in place of one."""
        wanted = enumerate((step, *self.run.steps[number + 1 :]), number)
        return self.stage.replay([self._prefixes[number]], wanted, self, number)

    def rest(self, prefixes: Mapping[State, RunPrefix], number: int) -> RunPrefix | None:
        """The prefix with the same state as after step `number`, followed by the run's later steps.

        None where no prefix ends there, and where the run goes round for ever: then all of it matters.
        None at its last state too, since another step to it may not be what is wrong.
        """
        is_whole = isinstance(self.run.ending, Lasso) or number + 1 == len(self.run.steps)
        if is_whole or self._prefixes[number + 1].state not in prefixes:
            return None
        prefix = prefixes[self._prefixes[number + 1].state]
        for later in self._prefixes[number + 2 :]:
            prefix = replace(later, before=prefix)
        return prefix
