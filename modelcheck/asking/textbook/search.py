"""Claims, decided: every check that they name is searched, and each is judged by what comes out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from time import monotonic

import spec.library as library
from counterexamples.trace import Trace
from modelcheck.asking.models import pick_checks
from modelcheck.asking.overrides import only
from modelcheck.asking.sweep import Answer, Crew, Orders, Point, Processes
from modelcheck.asking.textbook.claims import Bearing, Case, Claim, Judgement
from modelcheck.contract.report import Answers, Reporter, Silent
from modelcheck.contract.result import Outcome, Result, Violated
from spec.frozen import frozen
from spec.load import loads

UNANSWERED = Answer(None, "not answered")
Place = tuple[str, str]  # a protocol and one of its checks


@frozen
class Shown:
    """A case and what was found: the outcome of its check, or why there is none."""

    case: Case
    outcome: Outcome | None
    problem: str = ""

    @property
    def result(self) -> Result | None:
        """What was found of the property."""
        return None if self.outcome is None else self.outcome.result(self.case.property)

    @property
    def run(self) -> Trace | None:
        """The run that breaks the property, where there is one."""
        match self.result:
            case Result(verdict=Violated(trace=trace)):
                return trace
            case _:
                return None

    @property
    def bearing(self) -> Bearing:
        """What that says of the sentence."""
        return self.case.bearing(None if self.result is None else self.result.verdict)

    @property
    def is_foretold(self) -> bool:
        """Whether it is what the data say; where nothing was decided, nothing is contradicted."""
        return self.bearing in {self.case.expected, Bearing.OPEN}


@frozen
class Decided:
    """A claim with what was found in each of its cases."""

    claim: Claim
    shown: tuple[Shown, ...]

    @property
    def judgement(self) -> Judgement:
        """Whether the sentence is true; computed from what was found, and from nothing else."""
        return self.claim.judged([each.bearing for each in self.shown])

    @property
    def surprises(self) -> tuple[Shown, ...]:
        """The cases that came out otherwise than the data say."""
        return tuple(each for each in self.shown if not each.is_foretold)

    @property
    def is_foretold(self) -> bool:
        """Whether the sentence is what the data say, or nothing is decided."""
        return self.judgement in {self.claim.foretold, Judgement.OPEN}

    @property
    def runs(self) -> tuple[tuple[Shown, Trace], ...]:
        """The cases that refute the sentence by a run; where none does, those that bear it out by one."""
        shown = [(each, each.run) for each in self.shown]
        for bearing in (Bearing.AGAINST, Bearing.FOR):
            found = [(each, run) for each, run in shown if each.bearing is bearing and run is not None]
            if found:
                return tuple(found)
        return ()


def decided(
    claims: Sequence[Claim], orders: Orders, *, crew: Crew | None = None, reporter: Reporter | None = None
) -> Iterator[Decided]:
    """The claims as they are decided, in their order; a check that several name is searched once.

    Costs a search for each check, on all cores: some twenty seconds for all that are shipped.  Where
    it is interrupted, the cases that were not answered are told as such.
    """
    wanted = _wanted(claims)
    places, points = list(wanted), _points(wanted)
    found: dict[Place, Answer] = {}
    told, states, began = 0, 0, monotonic()
    for number, answer in (crew or Processes()).answers(points, orders):
        found[places[number]] = answer
        states += 0 if answer.outcome is None else answer.outcome.findings.stats.states
        (reporter or Silent()).tell(Answers("check", len(found), len(points), states, monotonic() - began))
        while told < len(claims) and all((c.model, c.check) in found for c in claims[told].cases):
            yield _decided(claims[told], found)
            told += 1
    for claim in claims[told:]:
        yield _decided(claim, found)


def _wanted(claims: Sequence[Claim]) -> dict[Place, list[str]]:
    """The properties that are asked about, by check, in the order of the claims."""
    wanted: dict[Place, list[str]] = {}
    for claim in claims:
        for case in claim.cases:
            names = wanted.setdefault((case.model, case.check), [])
            names += [case.property] * (case.property not in names)
    return wanted


def _points(wanted: Mapping[Place, Sequence[str]]) -> list[Point]:
    """The questions to the engine: checks as they stand in the library, of these properties alone."""
    protocols = {protocol: loads(library.text(protocol), protocol) for protocol, _ in wanted}
    made = []
    for (protocol, name), properties in wanted.items():
        ((model, asked),) = pick_checks(protocols[protocol], [name])
        made.append(Point((), model, only(model, asked, properties)))
    return made


def _decided(claim: Claim, found: Mapping[Place, Answer]) -> Decided:
    answers = [found.get((case.model, case.check), UNANSWERED) for case in claim.cases]
    pairs = zip(claim.cases, answers, strict=True)
    return Decided(claim, tuple(Shown(case, answer.outcome, answer.problem) for case, answer in pairs))
