"""Why a run goes wrong: the false parts, the steps it takes, the point of no return, two sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic

from counterexamples.explanation import Explanation, brief, lines
from counterexamples.lines import Line
from counterexamples.trace import Example, Stops, Trace
from modelcheck.contract.engine import Limits
from modelcheck.diagnosis.blamed import blamed
from modelcheck.diagnosis.causal_core import Exhausted, causal_core
from modelcheck.diagnosis.no_return import point_of_no_return
from modelcheck.diagnosis.settings import settings
from modelcheck.diagnosis.summary import claim, summary
from modelcheck.diagnosis.ways_out import trap_of

LIMITS = Limits(states=50_000, seconds=20)
BRIEF = Limits(states=5_000, seconds=2)
LOOKS = 10  # replayed steps that count as much as a state whose steps are looked at


def explain(trace: Trace, limits: Limits = LIMITS, *, in_full: bool = True) -> Explanation | None:
    """The explanation of a certified trace; None if it claims nothing, or is no run.

    Everything in it is found by the semantics: by replays of parts of the trace,
    and by a search from its last states.  Costs no more than the limits, for each
    of these two; what could not be found within them is unknown.
    Only `in_full` the trap that it ends in is looked at, which costs as much again.
    """
    if isinstance(trace.ending, Stops) or not trace.is_run:
        return None
    parts = blamed(trace)
    core, _ = causal_core(trace, _Patience(limits).look)
    no_return = point_of_no_return(trace, _Patience(limits).may_look)
    sentence = summary(trace, parts, core, no_return)
    needs = settings(trace, _Patience(limits).look)
    trap = trap_of(trace, _Patience(limits).may_look) if in_full else None
    return Explanation(sentence, claim(trace), parts, core, no_return, needs, trap)


def why(trace: Trace, width: int, *, in_full: bool) -> Iterator[Line]:
    """The lines of the explanation, after a trace's story; none if it claims nothing.

    If not in full, the summary and what can be known at once, of violations only.
    """
    if not in_full and isinstance(trace.ending, Example):
        return
    found = explain(trace, LIMITS if in_full else BRIEF, in_full=in_full)
    if found is not None:
        yield ()
        yield from (lines if in_full else brief)(found, width)


@dataclass
class _Patience:
    """The budget of replayed steps and visited states for an explanation."""

    limits: Limits

    def __post_init__(self) -> None:
        self._until = None if self.limits.seconds is None else monotonic() + self.limits.seconds
        self._looks = 0

    def look(self) -> None:
        """Count a replayed step. Raises Exhausted."""
        self._looks += 1
        if not self.may_look(self._looks // LOOKS):
            raise Exhausted

    def may_look(self, states: int) -> bool:
        """Whether more than `states` states may be visited."""
        is_many = self.limits.states is not None and states >= self.limits.states
        return not is_many and (self._until is None or monotonic() < self._until)
