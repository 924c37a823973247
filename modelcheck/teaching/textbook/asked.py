"""What is asked of the shipped protocols: a property of one of their checks, and what it must be."""

from __future__ import annotations

from enum import Enum

from modelcheck.asking.overrides import Overrides
from modelcheck.contract.result import Holds, Unknown, Verdict, Violated
from spec.frozen import frozen

Place = tuple[str, str, Overrides]  # a protocol, one of its checks, and what is changed of that


class Bearing(Enum):
    """What an answer means for the claim: supports it, refutes it, or leaves it open."""

    FOR = "bears it out"
    AGAINST = "refutes it"
    OPEN = "not decided"


@frozen
class PropertyQuestion:
    """A property of a check with changed settings, which `must` hold or fail."""

    model: str
    check: str
    property: str
    must: str = "hold"
    settings: Overrides = Overrides()

    def place(self) -> Place:
        """The search that answers the question, perhaps with others."""
        return self.model, self.check, self.settings

    def bearing(self, found: Verdict | None) -> Bearing:
        """What the verdict means for the claim; open without one."""
        match found:
            case None | Unknown():
                return Bearing.OPEN
            case Holds():
                return self.borne_out(holds=True)
            case Violated():
                return self.borne_out(holds=False)

    def borne_out(self, *, holds: bool) -> Bearing:
        """What it means that the property holds, or does not."""
        return Bearing.FOR if holds is (self.must == "hold") else Bearing.AGAINST
