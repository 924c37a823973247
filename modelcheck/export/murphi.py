"""A check of a model in Murphi, for rumur: each step of the model one rule.

The state has as many values as the model's, so rumur finds as many states as
the engines do, with its own reduction by symmetry off.
"""

from __future__ import annotations

from collections.abc import Iterator

import spec.model.ir as ir
from modelcheck.contract.wording import config_words, scope_words
from modelcheck.export.dialect import Dialect, TermWriter
from modelcheck.export.exported import Exported
from modelcheck.grounding.machine import GroundMachine, grounded
from modelcheck.grounding.steps import GroundRule
from modelcheck.grounding.terms import GroundTerm, Sign, subterms

KEYWORDS = frozenset(
    "alias array assert assume begin boolean by case clear const cover do else elsif end endalias endexists "
    "endfor endforall endfunction endif endprocedure endrecord endrule endruleset endstartstate endswitch "
    "endwhile enum error exists false for forall from function if in interleaved invariant isundefined "
    "ismember liveness log multiset multisetadd multisetcount multisetremove multisetremovepred of "
    "procedure process program put real record return rule ruleset scalarset startstate switch then to "
    "traceuntil true type undefine undefined union var while".split()
)
DIALECT = Dialect("&", "|", "=", "({} ? {} : {})")


def murphi(model: ir.Model, check: ir.Check) -> Exported:
    """The check in Murphi: one file and the commands to run it. Raises Inexpressible."""
    made = grounded(model, check, KEYWORDS)
    name = f"{model.name}.m"
    about = [f"{model.name}, check {check.name}", *scope_words(check.scope), *config_words(model, check)]
    text = "\n".join(_MurphiText(made).lines(about)) + "\n"
    off = "--symmetry-reduction off --deadlock-detection off"
    command = (
        f"rumur {off} -o {model.name}.c {name}",
        f"gcc -std=c11 -O2 -mcx16 -w -o {model.name} {model.name}.c -lpthread",
        f"./{model.name}",
    )
    return Exported({name: text}, command, made.notes)


class _MurphiText:
    """Writes a machine in Murphi."""

    def __init__(self, made: GroundMachine) -> None:
        self._made = made
        self._w = TermWriter(DIALECT, made.flats)

    def lines(self, about: list[str]) -> Iterator[str]:
        """The whole file."""
        made = self._made
        yield f"-- {'; '.join(about)}"
        yield ""
        least, most = self._range()
        if least < 0 or most > max((flat.most or 1 for flat in made.flats), default=1):
            # rumur computes in the narrowest type of C that the types of a model need.
            yield f"type number: {least}..{most};"
            yield ""
        yield "var"
        for flat in made.flats:
            yield f"  {flat.name}: {_type_up_to(flat.most)};"
        for n, start in enumerate(made.starts):
            yield ""
            yield f'startstate "start {n}" begin'
            for flat, value in zip(made.flats, start, strict=True):
                known = ("false", "true")[value] if flat.most is None else str(value)
                yield f"  {flat.name} := {known};"
            yield "end;"
        for rule in made.rules:
            yield ""
            yield from self._rule(rule)
        for name, holds in made.invariants:
            yield ""
            yield f'invariant "{name}"'
            yield f"  {self._w.text(holds)};"

    def _range(self) -> tuple[int, int]:
        """The range of all numbers that occur in a step or an invariant."""
        roots = [holds for _, holds in self._made.invariants]
        for rule in self._made.rules:
            roots += [rule.guard, rule.error]
            roots += [value for _, value in rule.changes] + [holds for _, holds in rule.claims]
        least, most = 0, 1
        for term in subterms(roots):
            least, most = min(least, term.lo), max(most, term.hi)
            if term.sign is Sign.CONST:  # below 0 it is written as a difference
                most = max(most, -term.lo)
        return least, most

    def _rule(self, rule: GroundRule) -> Iterator[str]:
        """The lines of a rule."""
        terms, w = self._made.terms, self._w
        roots = [value for _, value in rule.changes] + [holds for _, holds in rule.claims]
        moments = w.moments(roots)
        types = {moment.name: _type_of(moment.term) for moment in moments}
        lines: list[str] = []
        named: dict[GroundTerm, str] = {}
        if rule.error.constant != 0:
            lines.append(f'assert "an error of the model" !({w.text(rule.error)});')
        for moment in moments:
            lines.append(f"{moment.name} := {w.text(moment.term, named)};")
            named[moment.term] = moment.name
        for name, holds in rule.claims:
            lines.append(f'assert "{name}" ({w.text(holds, named)});')
        known = {flat.name: _type_up_to(flat.most) for flat in self._made.flats}
        for each in w.updates(rule.changes, named, "old"):
            if each.name not in known:
                types[each.name] = known[each.value]
            lines.append(f"{each.name} := {each.value};")
        title = rule.name.replace('"', "'")
        yield f'rule "{title}"'
        yield f"  {w.text(terms.any((rule.guard, rule.error)))}"
        yield "==>"
        yield from (f"  var {name}: {of};" for name, of in types.items())
        yield "begin"
        yield from (f"  {line}" for line in lines)
        yield "end;"


def _type_up_to(most: int | None) -> str:
    """The Murphi type of numbers up to a bound; of a Boolean without one."""
    return "boolean" if most is None else f"0..{most}"


def _type_of(term: GroundTerm) -> str:
    """The Murphi type of a term."""
    return "boolean" if term.truth else f"{term.lo}..{term.hi}"
