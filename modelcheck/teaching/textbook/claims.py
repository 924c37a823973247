"""Sentences about replication and the checks that decide them: `spec/protocols/claims.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from enum import Enum

from modelcheck.teaching.textbook.asked import Bearing, PropertyQuestion
from spec.frozen import frozen
from spec.reading import resource


class ClaimJudgement(Enum):
    """The judgement on a claim over all its cases."""

    TRUE = "true"
    CONDITIONAL = "true under a condition"
    FALSE = "false"
    OPEN = "not decided"


@frozen
class ClaimCase:
    """A claim under some circumstances: the questions, and the expected result."""

    when: str
    asked: PropertyQuestion
    expected: Bearing


@frozen
class Claim:
    """A textbook claim: sentence, subject, source and cases.

    It is claimed under the `condition`, which the cases meet that are expected to bear it
    out; without a condition (empty), it is true everywhere or false.
    """

    name: str
    about: str
    sentence: str
    source: str
    condition: str
    cases: tuple[ClaimCase, ...]

    def judged(self, bearings: Sequence[Bearing]) -> ClaimJudgement:
        """The judgement, by the results of the cases in order."""
        if Bearing.OPEN in bearings:
            return ClaimJudgement.OPEN
        if Bearing.AGAINST not in bearings:
            return ClaimJudgement.TRUE
        met = [found for case, found in zip(self.cases, bearings, strict=True) if _meets(case)]
        is_met = self.condition and met and Bearing.AGAINST not in met
        return ClaimJudgement.CONDITIONAL if is_met else ClaimJudgement.FALSE

    def words(self, judged: ClaimJudgement) -> str:
        """A judgement in words, with its condition if there is one."""
        return f"true if {self.condition}" if judged is ClaimJudgement.CONDITIONAL else judged.value

    @property
    def expected(self) -> ClaimJudgement:
        """The expected judgement."""
        return self.judged([case.expected for case in self.cases])


def _meets(case: ClaimCase) -> bool:
    """Whether a case meets the claim's condition."""
    return case.expected is Bearing.FOR


def claims() -> tuple[Claim, ...]:
    """All claims in the order of the file. Raises KeyError for an incomplete entry."""
    text = resource("spec", "protocols", "claims.toml")
    return tuple(_claim(entry) for entry in tomllib.loads(text)["claim"])


def _claim(entry: dict[str, object]) -> Claim:
    """The claim in an entry of the file."""
    cases = entry.pop("case")
    assert isinstance(cases, list)
    return Claim(**{"condition": "", **entry}, cases=tuple(map(_case, cases)))  # type: ignore[arg-type]


def _case(entry: dict[str, object]) -> ClaimCase:
    """The case in an entry of the file."""
    expected = Bearing.AGAINST if entry.pop("against", False) else Bearing.FOR
    when = str(entry.pop("when"))
    asked = PropertyQuestion(**entry)  # type: ignore[arg-type]
    if asked.must not in {"hold", "fail"}:
        raise ValueError(f"`{asked.must}`: a property must hold or fail")
    return ClaimCase(when, asked, expected)
