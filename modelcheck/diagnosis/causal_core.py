"""Which steps of a run its violation needs, and what is not possible, or not wrong, without each."""

from __future__ import annotations

from collections.abc import Callable

from counterexamples.explanation import Core, CoreStep
from counterexamples.trace import Example, Trace
from modelcheck.diagnosis.filled import NameValues, filled, given
from modelcheck.diagnosis.rerun import Course, ReplayResult, ReplayStage, from_the_end
from spec.meaning.evaluate import FrameLayout, walked
from spec.meaning.execute import fresh
from spec.meaning.semantics import CutOff, Machine, State, Step
from spec.model.values import ModelError, show


class Exhausted(Exception):  # noqa: N818 - an answer
    """Raised by `look` if a limit ends the search for needed steps."""


def causal_core(trace: Trace, look: Callable[[], None] = lambda: None) -> tuple[Core, Trace]:
    """The needed steps of a certified trace, and the run of them alone, with the same violation.

    Steps are taken out, in large parts first and from the end, each together with
    the later ones that are not possible without it, by NOTE(rerun); they stay out when what
    remains ends in the same violation: the same property is false, perhaps for
    another replica, and perhaps earlier.  So in the end no single step can be
    taken out.  Costs a replay for each attempt, at least one for each step of the core; `look` is
    called before each step of them, and ends it by raising Exhausted: then what is
    left may be more than it takes.
    """
    return _Reduction(trace, look).result()


class _Reduction:
    """Reduces a run; `_numbers` are the original indices of its steps."""

    def __init__(self, trace: Trace, look: Callable[[], None]) -> None:
        self._trace = trace
        self._stage = ReplayStage(trace, look)
        self._course = Course(self._stage, trace)
        self._numbers = list(range(len(trace.steps)))

    def result(self) -> tuple[Core, Trace]:
        """The needed steps with reasons, and their run."""
        try:
            self._reduce()
            without = [self._without(at) for at in range(len(self._numbers))]
        except Exhausted:
            without = []
        names = (self._stage.machine.name(self._trace.steps[number]) for number in self._numbers)
        reasons = without or [""] * len(self._numbers)
        steps = zip(self._numbers, names, reasons, strict=True)
        core = Core(
            tuple(CoreStep(number + 1, name, reason) for number, name, reason in steps),
            len(self._trace.steps),
            is_least=bool(without) or not self._numbers,
        )
        return core, self._course.run

    def _reduce(self) -> None:
        """Remove steps in growing detail, until no single step can be removed."""
        self._keep(self._course.replay_all())
        size = max(1, len(self._numbers) // 2)
        while True:
            is_less = False
            for part in from_the_end(range(len(self._numbers)), size):
                is_less |= self._keep(self._course.without(part))
            if size == 1 and not is_less:
                return
            size = max(1, size // 2)

    def _keep(self, replay: ReplayResult) -> bool:
        """Continue with a replayed run if it shows the violation; returns whether it does."""
        if replay.run is None:
            return False
        self._numbers = [self._numbers[at] for at in replay.kept]
        self._course = Course(self._stage, replay.run)
        return True

    def _without(self, at: int) -> str:
        """The effect of leaving one needed step out, in words."""
        refused = self._course.without([at]).refused
        if refused is None:
            is_example = isinstance(self._trace.ending, Example)
            return f"`{self._trace.property}` is not reached" if is_example else "nothing is wrong at the end"
        later, state = refused
        reason = refusal(self._stage.machine, self._course.run.steps[later], state)
        return f"step {self._numbers[later] + 1} is not possible: {reason}"


def refusal(machine: Machine, step: Step, state: State) -> str:
    """Why a step is not possible in a state: a guard, a missing value, the scope, or an error."""
    try:
        return _missing(machine, step, state) or _refused(machine, step, state)
    except ModelError as error:
        return f"the model makes an error ({error.message})"


def _missing(machine: Machine, step: Step, state: State) -> str:
    """The parameter whose value is not in its domain, in words; empty if none."""
    layout, action = FrameLayout(machine.scope, len(state)), machine.model.action(step.action)
    frame = fresh(state, action.slots)
    for number, (param, value) in enumerate(zip(action.params, step.args, strict=True)):
        if value not in walked(param.domain, param.case, layout)(frame):
            domain = filled(machine.model.source, param.domain, _given(machine, step, number))
            return f"{show(param.type, value, machine.scope)} is not in {domain}"
        frame[layout.locals + param.slot] = value
    return ""


def _refused(machine: Machine, step: Step, state: State) -> str:
    """The guard that refuses a step, in words."""
    guard = machine.why_not(step.action, step.args, state)
    if guard is not None:
        text = filled(machine.model.source, guard.test, _given(machine, step, len(step.args)))
        return f"`{guard.name}` ({text}) is false" if guard.name else f"`{text}` is false"
    for found in machine.steps(state, actions=(step.action,)):
        if isinstance(found, CutOff) and found.step.args == step.args:
            return f"it leaves the scope at {found.limit}"
    return "there is nothing of its kind to choose"


def _given(machine: Machine, step: Step, count: int) -> NameValues:
    """The values of the first `count` parameters of a step."""
    action = machine.model.action(step.action)
    pairs = list(zip(action.params, step.args, strict=True))[:count]
    return given(action.span, ((p.name, p.slot, show(p.type, value, machine.scope)) for p, value in pairs))
