"""The answers of the engine to what is asked: each check is searched once, however many ask about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from time import monotonic

import spec.library as library
from counterexamples.trace import Trace
from modelcheck.asking.models import pick_checks
from modelcheck.asking.overrides import only, put
from modelcheck.asking.sweep import Crew, Orders, Processes, SweepAnswer, SweepPoint
from modelcheck.contract.report import AnswersDone, Reporter, Silent
from modelcheck.contract.result import Holds, Outcome, Result, Violated
from modelcheck.teaching.textbook.asked import Bearing, Place, PropertyQuestion
from spec.frozen import frozen
from spec.load import loads

UNANSWERED = SweepAnswer(None, "not answered")


@frozen
class SearchedCheck:
    """What was asked and what was found: the outcome of its check, or why there is none."""

    asked: PropertyQuestion
    outcome: Outcome | None
    problem: str = ""

    @property
    def result(self) -> Result | None:
        """What was found of the property."""
        return None if self.outcome is None else self.outcome.result(self.asked.property)

    @property
    def run(self) -> Trace | None:
        """The run that breaks the property, where there is one."""
        match self.result:
            case Result(verdict=Violated(trace=trace)):
                return trace
            case _:
                return None

    @property
    def example(self) -> Trace | None:
        """The run that reaches what is to be reached, where there is one."""
        match self.result:
            case Result(verdict=Holds(example=trace)):
                return trace
            case _:
                return None

    @property
    def bearing(self) -> Bearing:
        """The bearing of its answer on the claim."""
        return self.asked.bearing(None if self.result is None else self.result.verdict)


Known = Mapping[Place, SweepAnswer]


def found_of(asked: PropertyQuestion, known: Known) -> SearchedCheck:
    """What is known of it so far."""
    answer = known.get(asked.place(), UNANSWERED)
    return SearchedCheck(asked, answer.outcome, answer.problem)


def searched(
    asked: Iterable[PropertyQuestion],
    orders: Orders,
    *,
    crew: Crew | None = None,
    reporter: Reporter | None = None,
) -> Iterator[Known]:
    """All that is known, after each search anew; nothing more comes where it is interrupted.

    Costs a search for each place, on all cores.
    """
    wanted = _wanted(asked)
    places, points = list(wanted), _points(wanted)
    known: dict[Place, SweepAnswer] = {}
    states, began = 0, monotonic()

    def tell() -> None:
        event = AnswersDone("check", len(known), len(points), states, monotonic() - began)
        (reporter or Silent()).tell(event)

    for number, answer in (crew or Processes()).answers(points, orders, tell):
        known[places[number]] = answer
        states += 0 if answer.outcome is None else answer.outcome.findings.stats.states
        tell()
        yield known


def _wanted(asked: Iterable[PropertyQuestion]) -> dict[Place, list[str]]:
    """The properties that are asked about, by search, in the order of asking."""
    wanted: dict[Place, list[str]] = {}
    for each in asked:
        names = wanted.setdefault(each.place(), [])
        names += [each.property] * (each.property not in names)
    return wanted


def _points(wanted: Mapping[Place, Sequence[str]]) -> list[SweepPoint]:
    """The questions to the engine: checks of the library, with what is changed, of these properties alone."""
    names = dict.fromkeys(protocol for protocol, _, _ in wanted)
    protocols = {name: loads(library.text(name), name) for name in names}
    made = []
    for (protocol, name, settings), properties in wanted.items():
        models = protocols[protocol]
        ((model, own),) = pick_checks(models, [name])
        model, check = put(models, model, own, None, settings)
        made.append(SweepPoint((), model, only(model, check, properties)))
    return made
