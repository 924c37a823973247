"""A run of a model as data: the waist between engines and everything that shows or checks a run."""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Mapping
from typing import assert_never

from counterexamples.lines import clean, count
from spec.frozen import frozen
from spec.meaning.semantics import State, Step
from spec.model.ir import Model, Scope
from spec.source import Span


@frozen
class BadState:
    """An ending: the property is false in the last state."""


@frozen
class BadStep:
    """An ending: the property is false for the last step."""


@frozen
class BadAssert:
    """An ending: an `assert` of the property's name fails in the last step."""


@frozen
class Erred:
    """An ending: an error of the model, in a step from the last state or in a property there.

    `step` is what was being taken, None when a guard or a property was being evaluated.
    """

    code: str
    message: str
    span: Span
    step: Step | None = None


@frozen
class Deadlocked:
    """An ending: no step is possible in the last state, and none is permitted to end there."""


@frozen
class Lasso:
    """An ending: the last state equals `states[loop]`, and the steps from there repeat forever.

    When `loop` is the last state itself, the run stays there for ever.
    """

    loop: int


@frozen
class Trapped:
    """An ending: no state that satisfies the property is reachable from the last state."""


@frozen
class Example:
    """An ending: the property is true in the last state, a witness and no violation."""


@frozen
class Stops:
    """An ending without a claim, such as that of a random run or of another tool's."""


Ending = BadState | BadStep | BadAssert | Erred | Deadlocked | Lasso | Trapped | Example | Stops


@frozen
class Trace:
    """A run from an initial state with its ending.

    There is one state more than there are steps: `steps[i]` leads from
    `states[i]` to `states[i + 1]`.  Nothing is checked here: `certify` does that.
    Where `is_run` is false it begins in any state, which may not be reachable: steps
    that are obstacles to a proof, and show nothing about the model.
    """

    model: Model
    scope: Scope
    states: tuple[State, ...]
    steps: tuple[Step, ...]
    ending: Ending
    property: str | None = None
    check: str | None = None
    is_run: bool = True

    @builtins.property  # the plain name is the field's here
    def faults(self) -> int:
        """The number of steps that are faults."""
        return sum(self.fault_counts().values())

    def fault_counts(self) -> Mapping[str, int]:
        """The number of steps of each fault that occurs."""
        names = set(self.model.faults)
        return Counter(step.action for step in self.steps if step.action in names)

    def faults_before(self) -> tuple[int, ...]:
        """For each state the number of faults before it."""
        names = set(self.model.faults)
        counts = [0]
        for step in self.steps:
            counts.append(counts[-1] + (step.action in names))
        return tuple(counts)

    def headline(self) -> str:
        """The violation in a sentence: "strong_isr is violated in 5 steps, with 2 faults (crash, crash)"."""
        name = self.property or self.model.name
        if not self.is_run:
            return self._headline_of_steps(name)
        match self.ending:
            case BadState() | BadStep() | BadAssert() | Lasso() | Trapped():
                what = f"{name} is violated"
            case Deadlocked():
                what = f"{name} is violated: nothing can happen any more"
            case Erred(code):
                what = f"the model makes an error ({code})"
            case Example():
                what = f"{name} is reached"
            case Stops():
                return f"a run of {self.model.name}: {count(len(self.steps), 'step')}, {self._faults()}"
            case _:
                assert_never(self.ending)
        return f"{what} in {count(len(self.steps), 'step')}, {self._faults()}"

    def _headline_of_steps(self, name: str) -> str:
        """The sentence for steps that are not a run, as from a proof attempt."""
        steps = "a step" if len(self.steps) == 1 else count(len(self.steps), "step")
        match self.ending:
            case BadState():
                what = f"after which {name} is false"
            case Erred(code):
                what = f"after which the model makes an error ({code})"
            case _:
                what = f"of which the last breaks {name}" if len(self.steps) > 1 else f"that breaks {name}"
        return f"not a run: a state that the claims allow, and {steps} from it {what}"

    def _faults(self) -> str:
        """The faults in words."""
        counts = self.fault_counts()
        if not counts:
            return "with no faults"
        kinds = ", ".join(name if n == 1 else f"{n} × {name}" for name, n in counts.items())
        return f"with {count(sum(counts.values()), 'fault')} ({kinds})"

    def __repr__(self) -> str:
        """The headline, since all states would fill pages."""
        return f"<Trace: {clean(self.headline())}>"
