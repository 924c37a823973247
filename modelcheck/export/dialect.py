"""Terms and steps as text: what a target must define for its signs, and in which order variables change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from modelcheck.grounding.layout import FlatVariable
from modelcheck.grounding.terms import GroundTerm, Sign, subterms
from spec.frozen import frozen

MOST_SHARED = 12  # a term that is larger and used twice gets a name
SIGNS = {  # that are the same in all languages
    Sign.LT: "<",
    Sign.ADD: "+",
    Sign.SUB: "-",
    Sign.MUL: "*",
    Sign.DIV: "/",
    Sign.MOD: "%",
}


@frozen
class Dialect:
    """The syntax of a target language where targets differ; `ite` has places for test and values."""

    conjunction: str
    disjunction: str
    equality: str
    ite: str


@frozen
class Assignment:
    """An assignment to a variable or to a temporary."""

    name: str
    value: str


@frozen
class Moment:
    """A temporary: a name for a term within one step."""

    name: str
    term: GroundTerm


class TermWriter:
    """Writes terms in a target's syntax."""

    def __init__(self, dialect: Dialect, flats: Sequence[FlatVariable]) -> None:
        self._ite = dialect.ite
        self._signs = SIGNS | {
            Sign.AND: dialect.conjunction,
            Sign.OR: dialect.disjunction,
            Sign.EQ: dialect.equality,
        }
        self._flats = flats

    def text(self, term: GroundTerm, named: Mapping[GroundTerm, str] | None = None) -> str:
        """The text of a term, with `named` subterms replaced by their names."""
        found = self._bare(term, named or {}, is_top=True)
        return found[1:-1] if _is_wrapped(found) and term.sign is not Sign.ITE else found

    def _bare(self, term: GroundTerm, named: Mapping[GroundTerm, str], *, is_top: bool = False) -> str:
        """The text of a term without considering a name for itself."""
        if term in named and not (is_top and term.sign is Sign.VAR):
            return named[term]
        args = [self._bare(arg, named) for arg in term.args if term.sign is not Sign.CONST]
        match term.sign:
            case Sign.CONST if term.truth:
                return "true" if term.lo else "false"
            case Sign.CONST:
                return str(term.lo) if term.lo >= 0 else f"(0 - {-term.lo})"
            case Sign.VAR:
                return self._flats[term.value].name
            case Sign.NOT:
                inner = term.args[0]
                if inner.sign in {Sign.EQ, Sign.LT} and inner not in named:
                    x, y = (self._bare(arg, named) for arg in inner.args)
                    return f"({x} != {y})" if inner.sign is Sign.EQ else f"({y} <= {x})"
                return f"!{args[0]}"
            case Sign.ITE:
                return self._ite.format(*args)
            case Sign.ADD if term.args[1].sign is Sign.CONST and term.args[1].lo < 0:
                return f"({args[0]} - {-term.args[1].lo})"
            case _:
                return f"({f' {self._signs[term.sign]} '.join(args)})"

    def name(self, variable: GroundTerm) -> str:
        """The name of a variable."""
        return self._flats[variable.value].name

    def moments(self, roots: Sequence[GroundTerm]) -> list[Moment]:
        """Temporaries for the large terms used more than once, subterms first."""
        uses: Counter[GroundTerm] = Counter()
        order: list[GroundTerm] = []
        for root in roots:
            _count(root, uses, order)
        shared = [x for x in order if uses[x] > 1 and x.size > MOST_SHARED and x.sign is not Sign.VAR]
        return [Moment(f"t{n}", term) for n, term in enumerate(shared)]

    def updates(
        self, changes: Sequence[tuple[GroundTerm, GroundTerm]], named: Mapping[GroundTerm, str], old: str
    ) -> Iterator[Assignment]:
        """Sequential assignments with the effect of simultaneous ones.

        Where two variables need each other, the value of one is kept first, in `old` and a number.
        """
        left = dict(changes)
        needs = {to: _variables(value, named) - {to} for to, value in changes}
        kept = dict(named)
        while left:
            others = {to: set().union(*(needs[x] for x in left if x is not to)) for to in left}
            free = next((to for to in left if to not in others[to]), None)
            if free is None:
                stuck = next(iter(left))
                kept[stuck] = f"{old}{len(kept)}"
                yield Assignment(kept[stuck], self.name(stuck))
                needs = {to: need - {stuck} for to, need in needs.items()}
                continue
            yield Assignment(self.name(free), self.text(left.pop(free), kept))


def _is_wrapped(text: str) -> bool:
    """Whether the first parenthesis is closed by the last one."""
    if not text.startswith("("):
        return False
    depth = 0
    for n, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return n == len(text) - 1
    return False


def _count(term: GroundTerm, uses: Counter[GroundTerm], order: list[GroundTerm]) -> None:
    """Count the uses of a term and its subterms."""
    uses[term] += 1
    if uses[term] > 1:
        return
    for arg in term.args:
        _count(arg, uses, order)
    order.append(term)


def _variables(term: GroundTerm, named: Mapping[GroundTerm, str]) -> set[GroundTerm]:
    """The variables that a term reads, except in named subterms."""
    return {each for each in subterms([term], named) if each.sign is Sign.VAR}
