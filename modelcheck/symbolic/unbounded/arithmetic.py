"""What is true of quorums by their sizes alone, for every number of replicas, as questions to a solver.

NOTE(regions): two sets among n members divide these into four regions, of those
in both, in one only, in the other only and in neither.  The sizes of the regions
are whole numbers not below 0 with the sum n, and any four such numbers are the
sizes of the regions of some two sets: take the members in any order and give the
first ones to the first region, the next to the second, and so on.  So "every
two sets of such sizes" is "every four such numbers", and a formula about sets by
their sizes is linear arithmetic, which is decidable: nothing is left out, and the
solver answers for all n at once.
"""

from __future__ import annotations

from modelcheck.symbolic.process import ProcessAnswer, Program, ask
from spec.frozen import frozen

SECONDS = 10.0
MEET = """(forall ((both Int) (left Int) (right Int) (rest Int)) (=>
  (and (>= both 0) (>= left 0) (>= right 0) (>= rest 0) (= (+ both left right rest) n)
       (>= (+ both left) w) (>= (+ both right) r))
  (>= both 1)))"""  # every set of at least w and every set of at least r share a member


@frozen
class Law:
    """A formula about natural numbers, to be proved for all values of its names."""

    name: str
    says: str
    numbers: tuple[str, ...]
    given: str
    then: str

    def text(self) -> str:
        """The SMT-LIB 2 question whether the formula can be false."""
        names = [f"(declare-const {name} Int)\n(assert (>= {name} 0))" for name in self.numbers]
        asked = [f"(assert {self.given})", f"(assert (not {self.then}))", "(check-sat)"]
        return "\n".join(["(set-logic LIA)", *names, *asked]) + "\n"

    def proved(self, program: Program, seconds: float = SECONDS) -> ProcessAnswer:
        """The answer of a solver: `UNSAT` if the formula is always true."""
        return ask(program, self.text(), seconds=seconds).answer


LAWS = (
    Law(
        "quorums_meet",
        "every write quorum meets every read quorum exactly when W + R > n",
        ("n", "w", "r"),
        "(and (<= w n) (<= r n))",
        f"(= (> (+ w r) n) {MEET})",
    ),
    Law(
        "majorities_meet",
        "any two majorities meet",
        ("n", "w", "r"),
        "(and (<= w n) (<= r n) (> (* 2 w) n) (> (* 2 r) n))",
        MEET,
    ),
    Law(
        "majority_needs_2f_plus_1",
        "quorums that all meet, and of which one is left after f failures, exist exactly from n = 2f + 1 on",
        ("n", "f"),
        "true",
        "(= (exists ((q Int)) (and (> (* 2 q) n) (<= 0 q) (<= q (- n f)))) (>= n (+ (* 2 f) 1)))",
    ),
    Law(
        "isr_needs_f_plus_1",
        "an in-sync set of which a member is left after f failures exists exactly from n = f + 1 on",
        ("n", "f"),
        "true",
        "(= (exists ((m Int)) (and (<= m n) (>= (- m f) 1))) (>= n (+ f 1)))",
    ),
    Law(
        "same_acknowledgements",
        "with 2f + 1 replicas and a majority, and with f + 1 all in sync, a leader waits for f others",
        ("f", "q"),
        "(and (> (* 2 q) (+ (* 2 f) 1)) (<= (* 2 (- q 1)) (+ (* 2 f) 1)))",
        "(and (= (- q 1) f) (= (- (+ f 1) 1) f))",
    ),
)
