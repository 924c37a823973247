"""Claims, decided: every check that they name is searched, and each is judged by what comes out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from counterexamples.trace import Trace
from modelcheck.asking.sweep import Crew, Orders
from modelcheck.contract.report import Reporter
from modelcheck.teaching.textbook.asked import Bearing
from modelcheck.teaching.textbook.claims import Claim, ClaimCase, ClaimJudgement
from modelcheck.teaching.textbook.searched import Known, SearchedCheck, found_of, searched
from spec.frozen import frozen


@frozen
class CaseResult:
    """A case and what was found."""

    case: ClaimCase
    found: SearchedCheck

    @property
    def bearing(self) -> Bearing:
        """What that means for the sentence."""
        return self.found.bearing

    @property
    def is_as_expected(self) -> bool:
        """Whether it is as expected in the data; where nothing was decided, nothing is contradicted."""
        return self.bearing in {self.case.expected, Bearing.OPEN}


@frozen
class DecidedClaim:
    """A claim with what was found in each of its cases."""

    claim: Claim
    shown: tuple[CaseResult, ...]

    @property
    def judgement(self) -> ClaimJudgement:
        """Whether the sentence is true; computed from what was found, and from nothing else."""
        return self.claim.judged([each.bearing for each in self.shown])

    @property
    def surprises(self) -> tuple[CaseResult, ...]:
        """The cases whose result is not the expected one of the data."""
        return tuple(each for each in self.shown if not each.is_as_expected)

    @property
    def is_as_expected(self) -> bool:
        """Whether the sentence is judged as expected in the data, or nothing is decided."""
        return self.judgement in {self.claim.expected, ClaimJudgement.OPEN}

    @property
    def runs(self) -> tuple[tuple[CaseResult, Trace], ...]:
        """The cases that refute the sentence by a run; where none does, those that bear it out by one."""
        shown = [(each, each.found.run) for each in self.shown]
        for bearing in (Bearing.AGAINST, Bearing.FOR):
            found = [(each, run) for each, run in shown if each.bearing is bearing and run is not None]
            if found:
                return tuple(found)
        return ()


def decided(
    claims: Sequence[Claim], orders: Orders, *, crew: Crew | None = None, reporter: Reporter | None = None
) -> Iterator[DecidedClaim]:
    """The claims as they are decided, in their order; a check that several name is searched once.

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
    return DecidedClaim(claim, tuple(CaseResult(case, found_of(case.asked, known)) for case in claim.cases))
