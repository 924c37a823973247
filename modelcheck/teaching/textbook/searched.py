"""The answers of the engine to what is asked: each check is searched once, however many ask about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from time import monotonic

import spec.library as library
from counterexamples.trace import Trace
from modelcheck.asking.crew import Crew
from modelcheck.asking.models import pick_checks
from modelcheck.asking.overrides import only, put
from modelcheck.asking.sweep import Orders, SweepAnswer, SweepPoint, answers
from modelcheck.contract.report import AnswersDone, Reporter, Silent
from modelcheck.contract.result import Holds, Outcome, Result, Violated
from modelcheck.teaching.textbook.asked import Bearing, Place, PropertyQuestion
from spec.frozen import frozen
from spec.load import loads

UNANSWERED = SweepAnswer(None, "not answered")


@frozen
class SearchedCheck:
    """A question with its outcome, or why there is none."""

    asked: PropertyQuestion
    outcome: Outcome | None
    problem: str = ""

    @property
    def result(self) -> Result | None:
        """The result for the property."""
        return None if self.outcome is None else self.outcome.result(self.asked.property)

    @property
    def run(self) -> Trace | None:
        """The run that violates the property, if any."""
        match self.result:
            case Result(verdict=Violated(trace=trace)):
                return trace
            case _:
                return None

    @property
    def example(self) -> Trace | None:
        """The run that reaches the property, if any."""
        match self.result:
            case Result(verdict=Holds(example=trace)):
                return trace
            case _:
                return None

    @property
    def bearing(self) -> Bearing:
        """What the result means for the claim."""
        return self.asked.bearing(None if self.result is None else self.result.verdict)


Known = Mapping[Place, SweepAnswer]


def found_of(asked: PropertyQuestion, known: Known) -> SearchedCheck:
    """The outcome of a question, as far as known."""
    answer = known.get(asked.place(), UNANSWERED)
    return SearchedCheck(asked, answer.outcome, answer.problem)


def searched(
    asked: Iterable[PropertyQuestion],
    orders: Orders,
    *,
    crew: Crew | None = None,
    reporter: Reporter | None = None,
) -> Iterator[Known]:
    """All results so far, after each search, of which there is one for each distinct check that is asked.

    Costs these searches, on all cores, with the limits of `orders`.
    """
    wanted = _wanted(asked)
    places, points = list(wanted), _points(wanted)
    known: dict[Place, SweepAnswer] = {}
    states, began = 0, monotonic()

    def tell() -> None:
        event = AnswersDone("check", len(known), len(points), states, monotonic() - began)
        (reporter or Silent()).tell(event)

    for number, answer in answers(points, orders, crew, tell):
        known[places[number]] = answer
        states += 0 if answer.outcome is None else answer.outcome.findings.stats.states
        tell()
        yield known


def _wanted(asked: Iterable[PropertyQuestion]) -> dict[Place, list[str]]:
    """The properties to check, by search."""
    wanted: dict[Place, list[str]] = {}
    for each in asked:
        names = wanted.setdefault(each.place(), [])
        names += [each.property] * (each.property not in names)
    return wanted


def _points(wanted: Mapping[Place, Sequence[str]]) -> list[SweepPoint]:
    """The searches: shipped checks with changes, restricted to the properties asked about."""
    names = dict.fromkeys(protocol for protocol, _, _ in wanted)
    protocols = {name: loads(library.text(name), name) for name in names}
    made = []
    for (protocol, name, settings), properties in wanted.items():
        models = protocols[protocol]
        ((model, own),) = pick_checks(models, [name])
        model, check = put(models, model, own, None, settings)
        made.append(SweepPoint((), model, only(model, check, properties)))
    return made
