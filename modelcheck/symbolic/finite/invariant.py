"""An inductive invariant: made small, checked again by a fresh solver, written in the language."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import spec.model.ir as ir
import spec.model.types as t
from modelcheck.grounding.term_values import term_value
from modelcheck.grounding.terms import GroundTerm
from modelcheck.symbolic.finite.facts import StateFact
from modelcheck.symbolic.finite.orbits import Cube
from modelcheck.symbolic.finite.system import System
from modelcheck.symbolic.formulas import Formula
from modelcheck.symbolic.solver import OneStep, SolverAnswer
from spec.frozen import frozen
from spec.model.interchangeable import symmetric_sorts
from spec.model.op import Op
from spec.model.values import show
from spec.model.walk import walk

Seconds = Callable[[], float | None]
OPPOSITES = {Op.EQ: "!=", Op.LT: ">=", Op.LE: ">", Op.IN: "not in"}
WORDS = {op: op.value for op in (Op.EQ, Op.LT, Op.LE, Op.IN, Op.SUBSET)}
MEMBER = re.compile("\0([^\0]+)\0(\\d+)\0")


class NoInvariant(Exception):  # noqa: N818 - an answer
    """Raised when the check of an invariant got no answer in time; `answer` is the solver's."""

    def __init__(self, answer: SolverAnswer) -> None:
        self.answer = answer


class NotInductive(Exception):  # noqa: N818 - an answer
    """Raised when the groups of clauses are not inductive."""


class Clauses:
    """Clauses of a candidate invariant, as groups of cubes to exclude: each a cube and its renamings."""

    def __init__(
        self, system: System, facts: Sequence[StateFact], groups: Sequence[Sequence[Cube]], seconds: Seconds
    ) -> None:
        self._system, self._facts, self.groups, self._seconds = system, facts, groups, seconds

    def minimal(self, claims: Sequence[str]) -> list[int]:
        """The indices of a minimal set of groups that is inductive and implies the claims.

        Costs a question for each group, and for each of those that it needs.  Raises NotKept.
        """
        step = self._solver(other=False)
        used: dict[int, set[int]] = {}  # by the group that is excluded, -1 for the claims
        every = list(range(len(self.groups)))
        waiting = [-1]
        while waiting:
            one = waiting.pop()
            if one not in used:
                used[one] = self._sufficient_groups(step, claims, one, every)
                waiting += used[one]
        left = set(used) - {-1}
        for one in sorted(left, key=lambda n: -len(min(self.groups[n], key=len))):
            rest = left - {one}
            new = {}
            for other in (*rest, -1):
                if one in used[other]:
                    enough = self._sufficient_groups_or_none(step, claims, other, sorted(rest))
                    if enough is None:
                        break
                    new[other] = enough
            else:
                used |= new
                left = rest
        return sorted(left)

    def _solver(self, *, other: bool) -> OneStep:
        """A fresh solver with each group of clauses under its own literal, and the bad states by claim."""
        system = self._system
        terms = [fact.term for fact in self._facts]
        step = OneStep(system.machine, terms, system.formed, look=self._seconds, other=other)
        self._bad = {name: step.name(f"bad {name}", system.bad(name)) for name in system.claims}
        self._without = {n: step.no(each) for n, each in enumerate(step.before, 1)}
        self._groups = [step.new(f"group {n}") for n in range(len(self.groups))]
        for name, group in zip(self._groups, self.groups, strict=True):
            for cube in group:
                step.clause([step.no(name), *(self._outside(step, n) for n in cube)])
        return step

    def _outside(self, step: OneStep, literal: int) -> Formula:
        """The formula that a literal of a cube is false before the step."""
        return self._without[literal] if literal > 0 else step.before[-literal - 1]

    def _after(self, step: OneStep, cube: Cube) -> list[Formula]:
        """The formulas that the literals of a cube are true after the step."""
        return [step.after[n - 1] if n > 0 else step.no(step.after[-n - 1]) for n in sorted(cube)]

    def _sufficient_groups(
        self, step: OneStep, claims: Sequence[str], one: int, groups: Sequence[int]
    ) -> set[int]:
        """The groups that suffice to exclude group `one` (-1: violations). Raises NotInductive."""
        found = self._sufficient_groups_or_none(step, claims, one, groups)
        if found is None:
            raise NotInductive
        return found

    def _sufficient_groups_or_none(
        self, step: OneStep, claims: Sequence[str], one: int, groups: Sequence[int]
    ) -> set[int] | None:
        """The groups that suffice to exclude group `one` (-1: violations); None if all do not."""
        assumed = [self._groups[n] for n in groups]
        number = {step.identity(self._groups[n]): n for n in groups}
        questions = [[self._bad[name]] for name in claims]
        if one >= 0:
            questions = [[step.real, *self._after(step, self.groups[one][0])]]
        found: set[int] = set()
        for question in questions:
            if self._asks(step, [*question, *assumed]):
                return None
            found |= {number[each] for each in step.core() if each in number}
        return found - ({one} if one >= 0 else set())

    def _asks(self, step: OneStep, literals: Sequence[Formula]) -> bool:
        """Whether some step satisfies the literals. Raises NoInvariant without an answer."""
        answer = step.under(literals, self._seconds())
        if answer not in (SolverAnswer.YES, SolverAnswer.NO):
            raise NoInvariant(answer)
        return answer is SolverAnswer.YES

    def check(self, claims: Sequence[str]) -> bool:
        """Whether the groups hold in the initial states, are preserved by steps, and imply the claims.

        Asked anew, cube by cube under each name, of a solver of another kind.
        """
        cubes = [cube for group in self.groups for cube in group]
        for start in self._system.machine.starts:
            known: dict[GroundTerm, int] = {}
            true = {n if term_value(fact.term, start, known) else -n for n, fact in enumerate(self._facts, 1)}
            if any(cube <= true for cube in cubes):
                return False
        step = self._solver(other=True)
        for name in self._groups:
            step.clause([name])
        if any(self._asks(step, [self._bad[name]]) for name in claims):
            return False
        return not any(self._asks(step, [step.real, *self._after(step, cube)]) for cube in cubes)


# ------------------------------------------------------------------------ in the language


@frozen
class ClauseWriter:
    """Writes cubes in the modelling language."""

    model: ir.Model
    scope: ir.Scope
    facts: Sequence[StateFact]
    flats: Sequence[str]  # names of the plain variables

    def lemma(self, number: int, cube: Cube) -> str:
        """The text of a lemma that excludes a cube under all renamings; else a comment."""
        name = self._free(f"found_{number}")
        exprs = [self.facts[abs(n) - 1].expr for n in cube]
        if not all(expr is not None and _is_writable(expr) for expr in exprs):
            return f"// {name}, which has no word in the language: {self._plain(cube)}"
        marked = {
            sort: tuple(f"\0{sort}\0{n}\0" for n in range(len(members)))
            for sort, members in self.scope.sorts.items()
        }
        text = self._claim(cube, replace(self.scope, sorts=marked))
        mentioned = dict.fromkeys(MEMBER.findall(text))
        if any(sort not in symmetric_sorts(self.model) for sort, _ in mentioned):
            return f"// {name}, about members that have no name: {self._plain(cube)}"
        names = self._names(mentioned)
        said = MEMBER.sub(lambda found: names[found[1], found[2]], text)
        return f"lemma {name}: {self._quantified(names)}{said}"

    def _plain(self, cube: Cube) -> str:
        """The lemma's condition for a cube that names no members."""
        return self._claim(cube, self.scope)

    def _quantified(self, names: Mapping[tuple[str, str], str]) -> str:
        """The condition, quantified over distinct members for the names given."""
        if not names:
            return ""
        binders = ", ".join(f"{name}: {sort}" for (sort, _), name in names.items())
        apart = [
            f"{a} != {b}" for ((one, _), a), ((other, _), b) in combinations(names.items(), 2) if one == other
        ]
        where = f" where {' and '.join(apart)}" if apart else ""
        return f"forall {binders}{where}. "

    def _names(self, mentioned: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """A variable name for each member, which the text of the model does not use."""
        names: dict[tuple[str, str], str] = {}
        counts: dict[str, int] = {}
        for sort, member in mentioned:
            counts[sort] = counts.get(sort, 0) + 1
            names[sort, member] = self._free(f"{sort[0].lower()}{counts[sort]}", set(names.values()))
        return names

    def _free(self, name: str, taken: set[str] | None = None) -> str:
        """A name like this that is not in use."""
        words = set(re.findall(r"\w+", self.model.source.text)) | (taken or set())
        while name in words:
            name += "_"
        return name

    def _claim(self, cube: Cube, scope: ir.Scope) -> str:
        """The negation of a cube, written as an implication."""
        ordered = sorted(cube, key=lambda n: (n < 0, abs(n)))
        *given, last = ordered
        then = self._literal_text(-last, scope)
        if not given:
            return then
        return f"{' and '.join(self._literal_text(n, scope) for n in given)} implies {then}"

    def _literal_text(self, literal: int, scope: ir.Scope) -> str:
        """The text of a literal: a fact or its negation."""
        fact = self.facts[abs(literal) - 1]
        if fact.expr is None:
            return self._raw(fact.term, literal)
        match fact.expr:
            case ir.Apply(op=op, args=(a, b)) if op in WORDS and (literal > 0 or op in OPPOSITES):
                word = WORDS[op] if literal > 0 else OPPOSITES[op]
                return f"{self._text(a, scope)} {word} {self._text(b, scope)}"
            case other:
                return ("" if literal > 0 else "not ") + self._text(other, scope)

    def _raw(self, term: GroundTerm, literal: int) -> str:
        """The text of a literal that has no form in the language."""
        if not term.args:
            return ("" if literal > 0 else "not ") + self.flats[term.value]
        below = term.args[0]  # `value < variable`, of which this is the opposite
        word = "<=" if literal > 0 else ">"
        return f"{self.flats[below.args[1].value]} {word} {below.args[0].lo}"

    def _owner(self, variable: int) -> str | None:
        """The component that declares a variable, if any."""
        return self.model.variables[variable].owner

    def _text(self, expr: ir.Expr, scope: ir.Scope) -> str:
        """The text of an expression."""
        match expr:
            case ir.Const(value=value):
                return show(expr.type, value, scope)
            case ir.Var(index=index):
                return self.model.variables[index].name
            case ir.Local():
                return "e"
            case ir.Apply(op=Op.LOOKUP, args=(ir.Var(index=index), key)) if self._owner(index):
                field = self.model.variables[index].name.partition(".")[2]
                return f"{self._text(key, scope)}.{field}"
            case ir.Apply(op=Op.LOOKUP, args=(whole, key)):
                return f"{self._text(whole, scope)}[{self._text(key, scope)}]"
            case ir.Apply(op=op, args=(a, b)) if op in WORDS:
                return f"{self._text(a, scope)} {WORDS[op]} {self._text(b, scope)}"
            case ir.Apply(op=op, args=args):
                return f"{op.value}({', '.join(self._text(arg, scope) for arg in args)})"
            case ir.Part(of=of, index=index):
                assert isinstance(of.type, t.Record)
                return f"{self._text(of, scope)}.{of.type.fields[index].name}"
            case ir.Is(of=of, case=case):
                assert isinstance(of.type, t.Union)
                return f"{self._text(of, scope)} is {of.type.cases[case].name}"
            case ir.Bind(domain=domain, body=body):
                return f"(exists e in {self._text(domain, scope)}. {self._text(body, scope)})"
            case _:
                raise AssertionError(f"no fact is made of {type(expr).__name__}")


def _is_writable(expr: ir.Expr) -> bool:
    """Whether every constant in an expression has a literal in the language; bags and maps have none."""
    known = (part.type for part in walk(expr) if isinstance(part, ir.Const))
    return not any(isinstance(part, t.Bag | t.Map) for of in known for part in t.walk_type(of))
