"""A clause about bound names: an expression that engines read, and a sentence of the language."""

from __future__ import annotations

from collections.abc import Sequence

import spec.model.ir as ir
from modelcheck.asking.lemmas.phrases import NOWHERE, Phrase, any_of, negated
from modelcheck.asking.lemmas.vocabulary import BoundName, Frame
from spec.frozen import frozen
from spec.model.walk import walk

SLOTS = 16  # enough for the names of a clause, and those inside its conditions


@frozen
class Literal:
    """A condition or its negation."""

    atom: Phrase
    positive: bool

    @property
    def expr(self) -> ir.Expr:
        """The expression of the literal."""
        return self.atom.expr if self.positive else negated(self.atom.expr)

    def text(self, *, opposite: bool = False) -> str:
        """The text of the literal, or of its negation."""
        return self.atom.said(positive=self.positive is not opposite)


@frozen
class Clause:
    """The claim that for all values of some names one of the literals is true."""

    binders: tuple[BoundName, ...]
    literals: tuple[Literal, ...]

    @property
    def cost(self) -> tuple[int, int]:
        """How much there is to read: literals and names, then the parts of its terms."""
        weight = sum(each.atom.weight for each in self.literals)
        return 2 * len(self.literals) + len(self.binders), weight

    @property
    def expr(self) -> ir.Expr:
        """The expression of the clause."""
        expr = any_of([each.expr for each in self.literals])
        for binder in reversed(self.binders):
            expr = binder.over(expr)
        return expr

    @property
    def text(self) -> str:
        """The clause as the language has it, as an implication where that reads better."""
        given = [each.text(opposite=True) for each in self.literals if not each.positive]
        then = [each.text() for each in self.literals if each.positive]
        if not then:  # the last is what the others exclude
            given, then = given[:-1], [self.literals[-1].text()]
        says = " or ".join(then)
        if given:
            says = f"{' and '.join(given)} implies {says}"
        return f"{self._quantified}{says}"

    @property
    def _quantified(self) -> str:
        """The quantifier."""
        if not self.binders:
            return ""
        return f"forall {', '.join(each.text for each in self.binders)}. "

    def without(self, literal: Literal) -> Clause:
        """The clause with one literal fewer."""
        return clause(self.binders, [each for each in self.literals if each != literal])

    def lemma(self, name: str) -> ir.Property:
        """The clause as a lemma."""
        return ir.Property(name, ir.PropertyKind.LEMMA, self.expr, None, SLOTS, None, span=NOWHERE)


def clause(binders: Sequence[BoundName], literals: Sequence[Literal]) -> Clause:
    """The clause of some literals, without names of sorts that none of them uses."""
    used = {
        each.slot for literal in literals for each in walk(literal.atom.expr) if isinstance(each, ir.Local)
    }
    for binder in reversed(binders):
        if binder.domain is not None:  # there may be no such value, which a clause relies on
            used |= {binder.slot} | {
                each.slot for each in walk(binder.domain.expr) if isinstance(each, ir.Local)
            }
    return Clause(tuple(each for each in binders if each.slot in used), tuple(literals))


def excluding(frame: Frame, column: Sequence[bool], chosen: Sequence[int]) -> Clause:
    """The clause that some conditions do not all have the values that a column has."""
    return clause(frame.binders, [Literal(frame.atoms[n], not column[n]) for n in sorted(chosen)])
