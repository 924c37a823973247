"""A check of a model in Promela, for SPIN: one process, and each step of the model one `d_step` of it.

The state has as many values as the model's, so SPIN finds as many states as
the engines do, with the option not to leave any out (`-DNOREDUCE`), and not to
leave out variables that are never read (`-o2`).
"""

from __future__ import annotations

from collections.abc import Iterator

import spec.model.ir as ir
from modelcheck.contract.inexpressible import Construct, Inexpressible
from modelcheck.contract.wording import config_words, scope_words
from modelcheck.export.dialect import Dialect, TermWriter
from modelcheck.export.exported import Exported
from modelcheck.grounding.layout import FlatVariable
from modelcheck.grounding.machine import GroundMachine, grounded
from modelcheck.grounding.steps import GroundRule
from modelcheck.grounding.terms import GroundTerm
from spec.model.walk import walk_statements

KEYWORDS = frozenset(
    "active assert atomic bit bool break byte c_code c_decl c_expr c_state c_track chan cond d_proctype "
    "d_step D_proctype do else empty enabled end eval false fi for full get_priority goto hidden if in "
    "init inline int len local ltl mtype nempty never nfull notrace np_ od of pc_value pid printf "
    "priority proctype progress provided return run select set_priority short show skip step timeout "
    "trace true typedef unless unsigned until weak_until xr xs X U V W always eventually next stronguntil "
    "implies release nr_pr last accept check now".split()
)
DIALECT = Dialect("&&", "||", "==", "({} -> {} : {})")
BITS = 16  # of SPIN's `unsigned`
BEYOND = 1 << BITS  # too great for one
TEMPORARY = """\
/* Temporaries are 0 between steps. SPIN's breadth-first and multi-core searches
   refuse hidden variables: for them, `spin -DVISIBLE -a`. */
#ifdef VISIBLE
#define TEMPORARY
#else
#define TEMPORARY hidden
#endif""".splitlines()


def promela(model: ir.Model, check: ir.Check) -> Exported:
    """The check in Promela: one file and the commands to run it. Raises Inexpressible."""
    made = grounded(model, check, KEYWORDS)
    if len(made.starts) != 1:
        chosen = (each.span for each in walk_statements(model.init) if isinstance(each, ir.Choose))
        at = next(chosen, model.variables[0].span)
        raise Inexpressible(Construct(f"a model of {len(made.starts)} initial states", at))
    name = f"{model.name}.pml"
    about = [f"{model.name}, check {check.name}", *scope_words(check.scope), *config_words(model, check)]
    text = "\n".join(_PromelaText(made).lines(about)) + "\n"
    flags = "-O2 -w -DSAFETY -DNOREDUCE"
    command = (f"spin -o2 -a {name}", f"gcc {flags} -o pan pan.c", "./pan -m1000000")
    notes = [f"SPIN is asked of states after a step; the first state breaks {each}" for each in made.broken]
    return Exported({name: text}, command, (*made.notes, *notes))


class _PromelaText:
    """Writes a machine in Promela."""

    def __init__(self, made: GroundMachine) -> None:
        self._made = made
        self._w = TermWriter(DIALECT, made.flats)
        self._most = {flat.name: 1 if flat.most is None else flat.most for flat in made.flats}
        self._moments: dict[str, int] = {}  # a name of the moment, and its greatest value

    def lines(self, about: list[str]) -> Iterator[str]:
        """The whole file."""
        made = self._made
        steps = [line for rule in made.rules for line in self._rule(rule)]
        yield f"/* {'; '.join(about)} */"
        yield ""
        (start,) = made.starts
        for flat, value in zip(made.flats, start, strict=True):
            yield f"{_declared(flat)} = {value};"
        if self._moments:
            yield ""
            yield from TEMPORARY
            for name, most in sorted(self._moments.items()):
                yield f"TEMPORARY {_declared(FlatVariable(name, most))} = 0;"
        yield ""
        for name, holds in made.invariants:
            yield f"#define HOLDS_{name} ({self._w.text(holds)})"
        yield ""
        yield "active proctype steps() {"
        yield "end: do"
        yield from steps
        yield "  od"
        yield "}"

    def _rule(self, rule: GroundRule) -> Iterator[str]:
        """The lines of a rule."""
        terms, w = self._made.terms, self._w
        roots = [value for _, value in rule.changes] + [holds for _, holds in rule.claims]
        moments = w.moments(roots)
        named: dict[GroundTerm, str] = {}
        yield f"  /* {rule.name.replace('*/', '* /')} */"
        yield f"  :: d_step {{ {w.text(terms.any((rule.guard, rule.error)))} ->"
        if rule.error.constant != 0:
            yield f"       assert(!({w.text(rule.error)})); /* an error of the model */"
        for moment in moments:
            yield f"       {moment.name} = {w.text(moment.term, named)};"
            named[moment.term] = moment.name
            self._known(moment.name, BEYOND if moment.term.lo < 0 else moment.term.hi)
        for name, holds in rule.claims:
            yield f"       assert({w.text(holds, named)}); /* {name} */"
        kept = []
        for each in w.updates(rule.changes, named, "old"):
            if each.name not in self._most:
                kept.append(each.name)
                self._known(each.name, self._most[each.value])
            yield f"       {each.name} = {each.value};"
        for name, _ in self._made.invariants:
            yield f"       assert(HOLDS_{name});"
        for name in (*(moment.name for moment in moments), *kept):
            yield f"       {name} = 0;"
        yield "       skip }" if not (rule.changes or self._made.invariants) else "     }"

    def _known(self, name: str, most: int) -> None:
        """Refuse a variable too large for Promela."""
        self._moments[name] = max(most, self._moments.get(name, 0))


def _declared(flat: FlatVariable) -> str:
    """The declaration of a variable."""
    if flat.most is None:
        return f"bit {flat.name}"
    bits = max(flat.most, 1).bit_length()
    return f"int {flat.name}" if bits > BITS else f"unsigned {flat.name} : {bits}"
