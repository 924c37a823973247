"""A check of a model as a TLA+ module for TLC: the same initial states, steps and claims, within the scope.

One step of the model is one step of the module, and the state has the model's
variables, so TLC finds as many distinct states as the engines do.  Where a
budget gives a kind of fault a number, its counter is part of the state here
as it is there; only a budget for all faults together needs a counter that the
engines do without, with a note.

Two things are not the same.  An error of the model stops TLC as it stops the
engines, but TLC evaluates no more than it needs: an error in a value that
nothing uses, at a member of a domain after the one that decides a quantifier, or
before a store in the same step that leaves the scope, is not seen.  And TLC's
numbers have 32 bits.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import modelcheck.export.tla.terms as terms
import spec.model.ir as ir
from modelcheck.contract.families import looked_at
from modelcheck.contract.inexpressible import Construct, Inexpressible
from modelcheck.contract.wording import budget_words, config_words, scope_words
from modelcheck.export.exported import Exported
from modelcheck.export.known import Knowledge
from modelcheck.export.tla.actions import Actions
from modelcheck.export.tla.blocks import conjunction, conjuncts
from modelcheck.export.tla.expressions import TlaEnv, TlaExpressions
from modelcheck.export.tla.library import LIBRARY, Library
from modelcheck.export.tla.names import STANDARD, NameSupply, field_name, legal, local, numbered, remark
from modelcheck.export.tla.operations import CORE, TlaOperations
from modelcheck.export.tla.properties import PropertyDefinitions, PropertyWriter
from modelcheck.export.tla.statements import Flow, written_out
from modelcheck.export.tla.values import Vocabulary
from modelcheck.grounding.budget import CountedBudget, counted
from spec.formatting.documents import LINE, Doc, Nest, cat, layout

TOTAL = (
    "the budget is for all faults together, so how many there were is part of the state here: TLC counts "
    "pairs of a state and a number of faults, and so more states than modelcheck, which counts a state once"
)
LINE_OF = "=" * 80


def tla(model: ir.Model, check: ir.Check) -> Exported:
    """The check in TLA+: module, configuration and commands. Raises Inexpressible."""
    return _Module(model, check).exported()


class _Module:
    """Writes one module."""

    def __init__(self, model: ir.Model, check: ir.Check) -> None:
        self._model = model = CORE.model(model)
        self._check = check
        self._scope = check.scope
        self._counted = counted(model, check.budget)
        self._library = Library()
        names = NameSupply(LIBRARY)
        self._words = _vocabulary(model, check, self._counted, names)
        self._values = TlaOperations(self._words, check.scope, self._library, names)
        self._e = TlaExpressions(self._values, Knowledge(model, check.scope), self._did)
        self._now = TlaEnv(lambda index: terms.atom(self._words.variables[index]), taken=names.taken)
        self._step = replace(
            self._now,
            read=lambda index: terms.atom(f"{self._words.variables[index]}'"),
            old=self._now.read,
        )
        self._actions = Actions(self._e, model, self._counted, self._now)

    def _did(self, expr: ir.Did, env: TlaEnv) -> terms.TlaTerm:
        """The formula of `did`."""
        return self._actions.did(expr, env)

    def exported(self) -> Exported:
        """The files, commands and notes."""
        model, check = self._model, self._check
        if not (self._words.variables or self._words.counters):
            raise Inexpressible(Construct("a model without a state, which TLC skips", check.span))
        asked = looked_at(model, check)
        claims = PropertyWriter(self._e, self._now, self._step, self._actions.possible).claims(
            asked, model.actions
        )
        body = "\n\n".join(self._body(claims))
        if self._e.refused:
            raise Inexpressible(*dict.fromkeys(self._e.refused))  # some are written more than once
        name = numbered(legal(model.name), STANDARD) if legal(model.name) in STANDARD else legal(model.name)
        title, head = f" MODULE {name} ", "\n\n".join(self._head())
        text = f"{title:-^80}\n{head}\n\n{body}\n{LINE_OF}\n"
        notes = [TOTAL] if self._counted.total is not None else []
        command = f"java -cp tla2tools.jar tlc2.TLC -deadlock -workers auto -config {name}.cfg {name}.tla"
        files = {f"{name}.tla": text, f"{name}.cfg": self._configuration(claims)}
        return Exported(files, (command,), (*notes, *claims.notes))

    # ------------------------------------------------------------------ sections

    def _head(self) -> Iterator[str]:
        """The lines of the module's head; made last, when it is known what is used."""
        model, check = self._model, self._check
        bounds = [*scope_words(check.scope), *config_words(model, check)]
        yield "\n".join(
            [
                rf"\* {model.name}, check {remark(check.name)}: {', '.join(bounds)};",
                rf"\* faults: {remark(budget_words(check.budget))}.",
                r"\* Written by `modelcheck export --to tla`.",
                "EXTENDS Integers, Sequences, FiniteSets, TLC",
            ]
        )
        yield "CONSTANT None  \\* no value"
        if library := self._library.text():
            yield library
        yield "\n".join(self._sets())
        for order in self._values.definitions:
            yield _laid_out(order)

    def _sets(self) -> Iterator[str]:
        """The definitions of sets of constants."""
        words, scope = self._words, self._scope
        for sort in self._model.sorts:
            names = ", ".join(words.members[sort.name])
            yield f"CONSTANTS {names}"
            yield f"{words.sets[sort.name]} == {{{names}}}"
        for nat in self._model.nats:
            most = words.most[nat.name]
            yield rf"{most} == {scope.nats[nat.name]}  \* a step beyond it is not taken"
            yield f"{words.sets[nat.name]} == 0..{most}"
        for network, limit in scope.networks.items():
            yield rf"{words.most[network]} == {limit}  \* in each channel; a step to more is not taken"
        for enum in self._model.enums:
            listed = ", ".join(f'"{member}"' for member in enum.members)
            yield f"{words.sets[enum.name]} == {{{listed}}}"
        for entry in self._model.configs:
            value = self._values.literal(scope.config[entry.name], entry.type)
            yield f"{words.configs[entry.name]} == {value}"

    def _body(self, claims: PropertyDefinitions) -> Iterator[str]:
        """The lines of variables, initial states, steps and properties."""
        words = self._words
        names = [*words.variables, *words.counters.values()]
        remarks = [
            *(remark(str(v.type)) for v in self._model.variables),
            *("faults so far" for _ in words.counters),
        ]
        comma = [*("," for _ in names[1:]), ""]
        lines = [rf"  {n}{c}  \* {r}" for n, c, r in zip(names, comma, remarks, strict=True)]
        yield "\n".join(["VARIABLES", *lines])
        yield _laid_out(_tuple("vars", names))
        yield _laid_out(cat("Init ==", Nest(2, cat(LINE, self._initial()))))
        for action in self._counted.actions:
            yield self._action(action, frozenset(claims.asserted))
        yield _laid_out(cat("Next ==", Nest(2, cat(LINE, self._next()))))
        yield from self._specification(claims)
        for head, definition in claims.definitions:
            yield f"{head}\n{_laid_out(definition)}"

    def _initial(self) -> Doc:
        """The definition of Init."""
        block = written_out(
            lambda before: Flow(self._e, before, frozenset(), is_start=True),
            lambda flow: flow.start(self._model.variables, self._model.init, self._now),
        )
        zeros = [cat(f"{name} = 0") for name in self._words.counters.values()]
        return conjunction([*conjuncts(block), *zeros])

    def _action(self, action: ir.Action, asserted: frozenset[str]) -> str:
        """The definition of an action, after a comment with its sentence."""
        env = self._actions.within(action)
        names = [str(env.names[param.slot]) for param in action.params]
        counters = self._words.counters
        own = [counter for kind, counter in counters.items() if self._counts(action, kind)]
        others = [counter for counter in counters.values() if counter not in own]

        block = written_out(
            lambda before: Flow(self._e, before, asserted, others), lambda flow: flow.step(action, env)
        )
        limits = {name: self._limit(kind) for kind, name in counters.items()}
        spent = [cat(f"{name} < {limits[name]}") for name in own]
        body = conjunction([*spent, *conjuncts(block), *[cat(f"{name}' = {name} + 1") for name in own]])
        head = self._words.actions[action.name] + (f"({', '.join(names)})" if names else "")
        says = self._says(action, env)
        kind = "" if action.kind is ir.Kind.ACTION else f"{action.kind.value}: "
        comment = rf"\* {kind}{remark(says)}" + "\n" if says or kind else ""
        return comment + _laid_out(cat(f"{head} ==", Nest(2, cat(LINE, body))))

    def _counts(self, action: ir.Action, kind: str | None) -> bool:
        """Whether an action increases a counter: of its kind, or (None) of all faults."""
        return action.is_fault and kind in {None, action.name}

    def _limit(self, kind: str | None) -> int | None:
        """The limit of a counter."""
        return self._counted.total if kind is None else self._counted.kinds[kind]

    def _says(self, action: ir.Action, env: TlaEnv) -> str:
        """An action's sentence, with the parts in braces as in the text."""

        def shown(part: str | ir.Expr) -> str:
            if isinstance(part, str):
                return part
            if "." in action.name:  # of a network: the text has no such words
                return str(self._e.term(part, env))
            return f"{{{self._model.source.text[part.span.start : part.span.end]}}}"

        return "".join(map(shown, action.says or ()))

    def _next(self) -> Doc:
        """The definition of Next."""
        some = [self._actions.some(action).doc for action in self._counted.actions]
        return terms.bullets("\\/", some) if some else terms.FALSE.doc

    def _specification(self, claims: PropertyDefinitions) -> Iterator[str]:
        """The definition of Spec, with fairness."""
        if not claims.is_fair:
            yield "Spec == Init /\\ [][Next]_vars"
            return
        parts: list[Doc] = []
        for action in self._counted.actions:
            sign = {ir.Fairness.WEAK: "WF", ir.Fairness.STRONG: "SF"}.get(action.fairness)
            if sign is not None:
                parts.append(cat(f"{sign}_vars(", Nest(8, self._actions.some(action).doc), ")"))
        if any(action.is_fault for action in self._counted.actions):
            # They come to an end; what another action may do as well is no fault.
            others = [self._actions.some(a) for a in self._counted.actions if not a.is_fault]
            parts.append(cat("<>[][", terms.either(others).doc if others else terms.FALSE.doc, "]_vars"))
        yield _laid_out(cat("Fairness ==", Nest(2, cat(LINE, conjunction(parts or [cat("TRUE")])))))
        yield "Spec == Init /\\ [][Next]_vars /\\ Fairness"

    # ------------------------------------------------------------------ configuration

    def _configuration(self, claims: PropertyDefinitions) -> str:
        """The text of TLC's configuration."""
        members = [name for names in self._words.members.values() for name in names]
        lines = [
            rf"\* {self._model.name}, check {remark(self._check.name)}",
            "SPECIFICATION Spec",
            "CONSTANTS",
        ]
        lines += [f"  {name} = {name}" for name in ("None", *members)]
        for word, names in (("INVARIANTS", claims.invariants), ("PROPERTIES", claims.temporal)):
            lines += [word, *(f"  {name}" for name in names)] if names else []
        if claims.examples:
            lines.append(r"\* To see an example: without the mark TLC shows the run that leads there.")
            lines += [rf"\* INVARIANT {name}" for name in claims.examples]
        return "\n".join(lines) + "\n"


def _tuple(name: str, parts: Sequence[str]) -> Doc:
    """The definition of a tuple of names."""
    return cat(f"{name} == ", Nest(len(name) + 4, terms.names(parts)))


def _laid_out(doc: Doc) -> str:
    """A document as text."""
    text = layout(doc, width=terms.WIDTH)
    return "\n".join(re.sub(r"(?<=\S) IN  ", " IN ", line.rstrip()) for line in text.splitlines())


def _vocabulary(model: ir.Model, check: ir.Check, budget: CountedBudget, names: NameSupply) -> Vocabulary:
    """Names for all declarations; those read most get the shortest."""
    short = Counter(_short(variable) for variable in model.variables)
    variables = []
    for variable in model.variables:
        own = _short(variable)
        variables.append(names.fresh(own) if short[own] == 1 else names.fresh(variable.name))
    actions = {
        action: names.fresh(action, f"do_{action}") for action in (each.name for each in model.actions)
    }
    properties = {
        prop.name: names.fresh(f"never_{prop.name}" if prop.kind is ir.PropertyKind.REACHABLE else prop.name)
        for prop in model.properties
    }
    named = (model.sorts, model.nats, model.enums)
    scalars = [each.name for kind in named for each in kind]
    sets = {scalar: names.fresh(scalar) for scalar in scalars}
    configs = {entry.name: names.fresh(entry.name) for entry in model.configs}
    members = {
        sort.name: tuple(
            names.fresh(member, f"{sort.name}_{member}") for member in check.scope.sorts[sort.name]
        )
        for sort in model.sorts
    }
    most = {name: names.fresh(f"Max_{name}") for name in (*check.scope.nats, *check.scope.networks)}
    counters: dict[str | None, str] = {kind: names.fresh(f"{kind}_faults") for kind in budget.kinds}
    if budget.total is not None:
        counters[None] = names.fresh("faults")
    fields = {
        field_name(field.name) for union in model.unions for case in union.cases for field in case.fields
    }
    tag = local("tag", frozenset(fields))
    return Vocabulary(members, sets, most, configs, tuple(variables), actions, properties, counters, tag)


def _short(variable: ir.Variable) -> str:
    """A variable's name without its process."""
    return variable.name.partition(".")[2] if variable.owner is not None else variable.name
