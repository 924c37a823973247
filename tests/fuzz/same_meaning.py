"""A model and a text that means the same: whatever is asked of them, the answers are the same."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import spec.syntax.tree as s
from modelcheck.asking.overrides import Overrides, apply
from spec.diagnostics import SpecError
from spec.editing.renaming import NotRenameable, rename
from spec.editing.understood import understood
from spec.elaboration.checks import member_names
from spec.formatting.format import format_text
from spec.load import load, loads
from spec.model.ir import Model
from spec.source import Source
from spec.syntax.parser import parse
from tests.agreement import Found, differences
from tests.fuzz.cases import Case, case_of
from tests.fuzz.findings import Differences
from tests.fuzz.rewriting import (
    as_import,
    as_variant,
    declared,
    new_names,
    protocol_of,
    reordered,
    with_names,
)

NEW = "quite_new"


def renamed(case: Case) -> Differences:
    """The same, but for names, where everything has another name."""
    names = new_names(case.text, case.random("renamed"))
    other = case_of(case.seed, with_names(case.text, names))
    known = comparable(case.known).items()
    expected = {with_names(name, names): _with_names(fact, names) for name, fact in known}
    return differences(expected, comparable(other.known))


def _with_names(fact: object, names: Mapping[str, str]) -> object:
    """A fact with other names in it."""
    match fact:
        case str():
            return with_names(fact, names)
        case dict():
            return {_with_names(key, names): _with_names(value, names) for key, value in fact.items()}
        case tuple() if type(fact) is tuple:
            return tuple(_with_names(each, names) for each in fact)
        case frozenset():
            return frozenset(_with_names(each, names) for each in fact)
        case _:
            return fact


def comparable(found: Found) -> Mapping[str, object]:
    """What two texts of the same meaning must agree on, without the order of declarations."""
    facts = dict(found.facts)
    if found.findings is None:  # of several mistakes it is the first
        return {"refused": True}
    if found.findings.error is not None:  # how much was seen before it depends on the order
        return {name: facts[name] for name in ("end", "error")}
    stats = found.findings.stats
    untested = Counter((part.property, part.is_quantifier) for part in stats.untested)  # wherever they are
    unordered = {"unused": frozenset(stats.unused), "unrefused": frozenset(stats.unrefused)}
    return facts | unordered | {"untested": frozenset(untested.items())}


def renamed_by_editor(case: Case) -> Differences | None:
    """One name changed as an editor does it: in every place that has it."""
    names = declared(case.text)
    known = understood(Source("own.rsm", case.text), _unread)
    places = [each for each in known.names().every if each.symbol.name in names]
    if not places:
        return None
    place = case.random("renamed by editor").choice(places)
    name = place.symbol.name
    found = rename(known, place.span.start, NEW, (), _unread, is_ours=lambda _: True)
    if isinstance(found, NotRenameable):
        return {name: (NEW, found.why)}
    text = case.text
    for span in sorted(found.places["own.rsm"], reverse=True):
        text = text[: span.start] + NEW + text[span.end :]
    if len({each.symbol for each in places if each.symbol.name == name}) > 1:  # not all of them are this one
        return differences(comparable(case.known), comparable(case_of(case.seed, text).known))
    return differences({name: with_names(case.text, {name: NEW})}, {name: text})


def _unread(name: str) -> str:
    raise AssertionError(name)


def in_another_order(case: Case) -> Differences:
    """The same declarations in another order."""
    other = case_of(case.seed, reordered(case.text, case.random("order")))
    return differences(comparable(case.known), comparable(other.known))


def as_a_variant(case: Case) -> Differences | None:
    """The same model as a variant of another one."""
    text = as_variant(case.text, case.random("variant"))
    if text is None:
        return None
    (model,) = loads(text, only=("again",))
    return _as_of(case, model)


def imported(case: Case) -> Differences:
    """The same declarations in two files, of which one imports the other."""
    with TemporaryDirectory() as folder:
        before, after = as_import(case.text, "before.rsm", case.random("import"))
        (Path(folder) / "before.rsm").write_text(before, encoding="utf-8")
        (Path(folder) / "after.rsm").write_text(after, encoding="utf-8")
        model = next(each for each in load(Path(folder) / "after.rsm") if each.name == case.model.name)
    return _as_of(case, model)


def _as_of(case: Case, model: Model) -> Differences:
    """What differs of another model, asked the same."""
    (asked,) = (each for each in model.checks if each.name == case.asked.name)
    other = Case(case.seed, "", model, replace(asked, only=case.asked.only))
    return differences(comparable(case.known), comparable(other.known))


def overridden(case: Case) -> Differences | None:
    """Settings that are typed in place of others mean what they would in the text."""
    chance, own = case.random("overridden"), case.asked
    sorts = [name for name, names in own.scope.sorts.items() if names == member_names(name, len(names))]
    sizes = {name: len(own.scope.sorts[name]) for name in sorts} | {**own.scope.nats, **own.scope.networks}
    item = protocol_of(case.text).items[-1]
    assert isinstance(item, s.CheckDecl)
    text, config = case.text, list[str]()
    for clause in reversed(item.clauses):
        start, end = clause.span.start, clause.span.end
        if isinstance(clause, s.ScopeClause):
            for each in reversed(clause.items):
                if each.name.text in sizes:
                    written = f"{each.name.text} = {chance.randint(1, 3)}"
                    text = text[: each.span.start] + written + text[each.span.end :]
        elif isinstance(clause, s.ConfigClause):
            config += [re.sub(r"\s", "", text[i.span.start : i.span.end]) for i in clause.items]
            text = text[:start] + text[end:]
        elif isinstance(clause, s.FaultsClause):
            text = text[:start] + "faults none" + text[end:]
    typed = tuple(f"{name}={size}" for name, size in sizes.items())
    try:
        other = case_of(case.seed, text)
    except SpecError:  # a value beyond the new scope
        return None
    total, kinds = own.budget.total, own.budget.kinds
    if total is not None and kinds is not None:
        return None  # there is no way to type it
    faults = "any" if total is None else f"{total}"
    if kinds is not None:
        faults = ",".join(f"{name}={'any' if most is None else most}" for name, most in kinds.items())
    try:
        found = apply(other.model, other.asked, Overrides(typed, tuple(config), faults))
    except SpecError as error:
        if "cannot be given here" in error.diagnostics[0].message:
            return None
        return {"refused": (None, error.diagnostics[0].message)}
    expected = {"scope": own.scope, "total": total, "kinds": kinds}
    actual = {"scope": found.scope, "total": found.budget.total, "kinds": found.budget.kinds}
    return differences(expected, actual)


def formatted(case: Case) -> Differences:
    """The same tree in canonical layout, and the layout once more."""
    text = format_text(case.text)
    own, again = parse(Source("", case.text)), parse(Source("", text))
    return differences({"tree": own, "layout": text}, {"tree": again, "layout": format_text(text)})
