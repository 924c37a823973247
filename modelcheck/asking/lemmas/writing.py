"""Lemmas as text: a variant of the model that has them, and a check that asks for the proof."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import spec.model.ir as ir
import spec.model.types as t
from modelcheck.asking.lemmas.clauses import Clause
from modelcheck.asking.lemmas.search import FoundLemma
from spec.frozen import frozen
from spec.model.values import show
from spec.model.walk import walk

WIDTH = 100
WORDS = (  # of conditions, as a sentence has them
    (" != none", " is some"),
    (" == none", " is none"),
    (" not in ", " is not in "),
    (" in ", " is in "),
    (" == {}", " is empty"),
    (" == []", " is empty"),
    (" != {}", " is not empty"),
    (" != []", " is not empty"),
    (" == ", " is "),
    (" != ", " is not "),
    (" <= ", " is at most "),
    (" >= ", " is at least "),
    (" < ", " is less than "),
    (" > ", " is more than "),
)


@frozen
class LemmaText:
    """A variant with lemmas: its name, that of its check, and the text of both."""

    variant: str
    check: str
    text: str
    names: Mapping[str, str]  # of lemmas, by the names that the search gave them


def written(
    models: Sequence[ir.Model],
    model: ir.Model,
    check: ir.Check,
    lemmas: Sequence[FoundLemma],
    asked: Sequence[str],
    uses: Mapping[str, frozenset[str]],
) -> LemmaText:
    """The text of a variant of the model with these lemmas, and of a check of it, for the end of the file.

    `uses` has for each claim the lemmas that keep it true, which become comments.
    """
    taken = set(re.findall(r"\w+", "".join(each.source.text for each in models)))
    variant = _free(f"{model.name}_proved", taken)
    name = _free(f"{check.name}_any_n", taken)
    names = {}
    for each in lemmas:
        names[each.name] = _free(_name(model, each.clause), taken)
    body = []
    for each in lemmas:
        users = [names.get(name, name) for name, used in uses.items() if each.name in used]
        body.append(
            f"  // used for {', '.join(users)}\n"
            f'  lemma {names[each.name]} says "{sentence(each.clause)}":\n'
            f"    {each.clause.text}\n"
        )
    lines = ["\n".join(body)]
    text = f"variant {variant} of {model.name} {{\n{lines[0]}}}\n\n"
    text += _check(model, check, name, variant, [*asked, *names.values()], asked)
    return LemmaText(variant, name, text, names)


def sentence(clause: Clause) -> str:
    """The clause in words."""
    given = [_words(each.text(opposite=True)) for each in clause.literals if not each.positive]
    then = [_words(each.text()) for each in clause.literals if each.positive]
    if not then:
        *given, _ = given
        then = [_words(clause.literals[-1].text())]
    says = " or ".join(then)
    if given:
        says = f"if {' and '.join(given)}, then {says}"
    if clause.binders:
        says = f"for any {', '.join(each.text for each in clause.binders)}: {says}"
    return re.sub(r"([{}])", r"\1\1", says)


def _words(condition: str) -> str:
    """A condition in words."""
    if condition.startswith("not "):
        return f"not {_words(condition[4:])}"
    if "{" in condition and "where" in condition:
        return condition
    for symbol, word in WORDS:
        if symbol in condition:
            return condition.replace(symbol, word, 1)
    return condition


def _name(model: ir.Model, clause: Clause) -> str:
    """A name for a lemma: the messages and state variables that it is about."""
    cases = [each.type for each in clause.binders if isinstance(each.type, t.Case)]
    found: dict[str, None] = dict.fromkeys(each.name.lower() for each in cases)
    for literal in clause.literals:
        for each in walk(literal.atom.expr):
            if isinstance(each, ir.Var):
                found[model.variables[each.index].name.rpartition(".")[2]] = None
    return "_and_".join(found) or "lemma"


def _free(name: str, taken: set[str]) -> str:
    """A name like this that is not in use, which it is afterwards."""
    for each in (name, *(f"{name}_{n}" for n in range(2, 999))):
        if each not in taken:
            taken.add(each)
            return each
    raise AssertionError("a thousand lemmas of one name")


def _check(
    model: ir.Model, check: ir.Check, name: str, variant: str, only: Sequence[str], asked: Sequence[str]
) -> str:
    """The text of a check of the variant in the scope of another one."""
    scope = check.scope
    sizes = {**{sort: len(members) for sort, members in scope.sorts.items()}, **scope.nats, **scope.networks}
    sizes |= dict.fromkeys(scope.unbounded, "any")  # type: ignore[arg-type]
    exact = {each: f"exactly {sizes[each]}" for each in check.exact if each in sizes}
    bounds = ", ".join(f"{each} = {exact.get(each, size)}" for each, size in sizes.items())
    lines = [f"check {name} of {variant} {{"]
    if bounds:
        lines.append(f"  scope  {bounds}")
    defaults = {entry.name: entry.default for entry in model.configs}
    changed = [
        f"{entry.name} = {show(entry.type, scope.config[entry.name], scope)}"
        for entry in model.configs
        if scope.config[entry.name] != defaults[entry.name]
    ]
    if changed:
        lines.append(f"  config {', '.join(changed)}")
    if model.faults:
        lines.append(f"  faults {_faults(check.budget)}")
    lines += [f"  only   {part}" for part in _wrapped(only)]
    end = " for any faults" if model.faults and check.budget.total != 0 else ""
    lines += [f"  expect {part}" for part in _wrapped([f"{each} holds{end}" for each in asked])]
    return "\n".join(lines) + "\n}\n"


def _faults(budget: ir.Budget) -> str:
    """The budget of faults as a check has it, any number of each kind that is allowed."""
    if budget.total == 0:
        return "none"
    if budget.kinds is None:
        return "any"
    allowed = [f"{name} any" for name, most in budget.kinds.items() if most != 0]
    return ", ".join(allowed) or "none"


def _wrapped(words: Sequence[str]) -> list[str]:
    """Words in lines, with commas between those of one line."""
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + len(word) < WIDTH - 12:
            lines[-1] += f", {word}"
        else:
            lines.append(word)
    return lines
