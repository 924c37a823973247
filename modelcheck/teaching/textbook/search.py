"""Claims, decided: every check that they name is searched, and each is judged by what comes out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from counterexamples.trace import Trace
from modelcheck.asking.crew import Crew
from modelcheck.asking.sweep import Orders
from modelcheck.contract.report import Reporter
from modelcheck.teaching.textbook.asked import Bearing
from modelcheck.teaching.textbook.claims import Claim, ClaimCase, ClaimJudgement
from modelcheck.teaching.textbook.searched import Known, SearchedCheck, found_of, searched
from spec.frozen import frozen


@frozen
class CaseResult:
    """A case with its result."""

    case: ClaimCase
    found: SearchedCheck

    @property
    def bearing(self) -> Bearing:
        """What the result means for the claim."""
        return self.found.bearing

    @property
    def is_as_expected(self) -> bool:
        """Whether the result is as expected; also if it is undecided."""
        return self.bearing in {self.case.expected, Bearing.OPEN}


@frozen
class DecidedClaim:
    """A claim with the result of each case."""

    claim: Claim
    shown: tuple[CaseResult, ...]

    @property
    def judgement(self) -> ClaimJudgement:
        """The judgement, from the results alone."""
        return self.claim.judged([each.bearing for each in self.shown])

    @property
    def surprises(self) -> tuple[CaseResult, ...]:
        """The cases with unexpected results."""
        return tuple(each for each in self.shown if not each.is_as_expected)

    @property
    def is_as_expected(self) -> bool:
        """Whether the judgement is as expected, or undecided."""
        return self.judgement in {self.claim.expected, ClaimJudgement.OPEN}

    @property
    def runs(self) -> tuple[tuple[CaseResult, Trace], ...]:
        """The cases that refute the claim by a run, else those that support it by one."""
        shown = [(each, each.found.run) for each in self.shown]
        for bearing in (Bearing.AGAINST, Bearing.FOR):
            found = [(each, run) for each, run in shown if each.bearing is bearing and run is not None]
            if found:
                return tuple(found)
        return ()


def decided(
    claims: Sequence[Claim], orders: Orders, *, crew: Crew | None = None, reporter: Reporter | None = None
) -> Iterator[DecidedClaim]:
    """The claims as they are decided, in order; a shared check is searched once.

    Costs a search for each check, on all cores: some twenty seconds for all that are shipped.  Where
    it is interrupted, the cases that were not answered are marked as such.
    """
    asked = [case.asked for claim in claims for case in claim.cases]
    done = 0
    found: Known = {}
    for found in searched(asked, orders, crew=crew, reporter=reporter):
        while done < len(claims) and all(case.asked.place() in found for case in claims[done].cases):
            yield _decided(claims[done], found)
            done += 1
    for claim in claims[done:]:
        yield _decided(claim, found)


def _decided(claim: Claim, known: Known) -> DecidedClaim:
    """A claim with the results known."""
    return DecidedClaim(claim, tuple(CaseResult(case, found_of(case.asked, known)) for case in claim.cases))
