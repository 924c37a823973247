"""A proof for every scope, or how far it got: for each claim and action, whether steps keep the claim."""

from __future__ import annotations

from enum import Enum

from counterexamples.trace import Trace
from spec.frozen import frozen

START = "an initial state exists"  # the claim without which all others hold of nothing


class ObligationStatus(Enum):
    """The status of a proof obligation."""

    PROVED = "proved"
    FAILED = "failed"
    UNKNOWN = "unknown"


@frozen
class ObligationCell:
    """The status of a proof obligation: a claim at the start (no action), or after an action.

    `shown` is a step from a state where all claims are true to one where this is
    not; such a state may not be reachable.  `smt` is the text that was put to the
    solver, and `named` which of its two forms; `decidable` whether a solver is sure
    to decide it, given time.
    """

    claim: str
    action: str | None
    kept: ObligationStatus
    seconds: float
    why: str = ""
    shown: Trace | None = None
    smt: str = ""
    named: bool = False
    decidable: bool = False

    @property
    def place(self) -> str:
        """The obligation's place in words: the start, or an action."""
        if self.claim == START:
            return "in every scope"
        return "at the start" if self.action is None else f"after {self.action}"


@frozen
class Proof:
    """The obligations of claims that were proved together, each assuming all claims.

    Where the `init` block of the model chooses, one more is that there is an initial state (START).

    `dropped` are those of claims that could not be proved, so the rest did without.
    With `within_scope` it is a proof for the scope of the check alone.  An action
    keeps a claim that is true after any `steps` steps with all claims true before.
    `found` are lemmas, in the language, that a prover found to prove the claims with.
    """

    claims: tuple[str, ...]
    cells: tuple[ObligationCell, ...]
    dropped: tuple[ObligationCell, ...]
    solver: str
    within_scope: bool = False
    steps: int = 1
    found: tuple[str, ...] | None = None
