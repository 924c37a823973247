"""Texts that mean the same as the text of a model: other names, another order, variants, imports."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random

import spec.syntax.tree as s
from spec.source import Source
from spec.syntax.parser import parse

NAME = re.compile(r"\b[A-Za-z_][A-Za-z_]*\d\w*")  # of what a random model declares: all have a number


def protocol_of(text: str) -> s.Protocol:
    """The tree of a text that imports nothing."""
    tree = parse(Source("", text))
    assert isinstance(tree, s.Protocol)
    return tree


def declared(text: str) -> list[str]:
    """The names of what a random model declares, in the order of the text."""
    return list(dict.fromkeys(NAME.findall(text)))


def new_names(text: str, chance: Random) -> dict[str, str]:
    """For every name of a random model another one, in another order and of another length."""
    letters = "abcdwxyzABCDWXYZ"
    found: dict[str, str] = {}
    for name in declared(text):
        while name not in found:
            new = "".join(chance.choices(letters, k=chance.randint(1, 9))) + "_"
            if new not in found.values():
                found[name] = new
    return found


def with_names(text: str, names: Mapping[str, str]) -> str:
    """The text with other names."""
    return NAME.sub(lambda found: names.get(found[0], found[0]), text)


# ------------------------------------------------------------------ order


def reordered(text: str, chance: Random) -> str:
    """The same declarations in another order; variants stay after what they vary, and the last check last."""
    tree = protocol_of(text)
    kept = [item for item in tree.items if isinstance(item, s.VariantDecl | s.CheckDecl)]
    others = [item for item in tree.items if item not in kept]
    chance.shuffle(others)
    parts = [_shuffled_fields(text, item, chance) for item in others]
    parts += [text[item.span.start : item.span.end] for item in kept]
    return "\n".join([f"protocol {tree.name.text}", *parts]) + "\n"


def _shuffled_fields(text: str, item: s.Item, chance: Random) -> str:
    """A declaration with its variables in another order."""
    own = text[item.span.start : item.span.end]
    if not isinstance(item, s.StateDecl | s.ProcessDecl) or not item.fields:
        return own
    fields = [text[field.span.start : field.span.end] for field in item.fields]
    head = text[item.span.start : item.fields[0].span.start]
    chance.shuffle(fields)
    return "\n".join([head, *fields, "}"])


# ------------------------------------------------------------------ variants


@dataclass(frozen=True)
class Change:
    """What a base has in the place of a declaration, and what makes it that one again in a variant."""

    base: str
    variant: str


def as_variant(text: str, chance: Random) -> str | None:
    """The text as another one whose variant it is; None where it has a variant already."""
    tree = protocol_of(text)
    if any(isinstance(item, s.VariantDecl) for item in tree.items):
        return None
    base, changes, checks = list[str](), list[str](), list[str]()
    for item in tree.items:
        own = text[item.span.start : item.span.end]
        if isinstance(item, s.CheckDecl):
            checks.append(re.sub(r"^check \w+", r"\g<0> of again", own))
            continue
        possible = list(_changes(text, item))
        change = chance.choice(possible) if possible and chance.random() < 0.5 else Change(own, "")
        base.append(change.base)
        changes += [change.variant] if change.variant else []
    for extra, name in EXTRAS:
        if chance.random() < 0.3:
            base.append(extra)
            changes.append(f"drop {name}")
    if not changes:
        return None
    chance.shuffle(changes)
    head = [f"protocol {tree.name.text}", *base]
    return "\n".join([*head, f"variant again of {tree.name.text} {{", *changes, "}", *checks]) + "\n"


EXTRAS = (
    ("action extra_a() {}", "extra_a"),
    ("fault extra_f() {}", "extra_f"),
    ("invariant extra_i: 1 == 2", "extra_i"),
    ("fun extra_n(x: bool): bool = not x", "extra_n"),
    ("type extra_t = 0..3", "extra_t"),
    ("assume extra_p: 1 == 2", "extra_p"),
)


def _changes(text: str, item: s.Item) -> Iterator[Change]:
    """What may be there in place of a declaration, with what makes it that declaration again."""
    own = text[item.span.start : item.span.end]
    if not isinstance(item, s.DisplayDecl):
        yield Change("", own)
    dull = _dull(item)
    if dull:
        yield Change(dull, f"replace {own}")
    if isinstance(item, s.ActionDecl):
        yield from _changes_of_guards(text, item)
    if isinstance(item, s.ProcessDecl):
        yield from _changes_of_storage(text, item)


def _dull(item: s.Item) -> str:
    """Another declaration of the same kind and name; empty where none can be replaced."""
    match item:
        case s.FunDecl(name=name):
            return f"fun {name.text}: bool = true"
        case s.ActionDecl(name=name):
            return f"action {name.text}() {{}}"
        case s.PropertyDecl(kind=kind, name=name):
            return "deadlock free unless true" if "deadlock" in kind else f"lemma {name.text}: 1 == 2"
        case s.ConfigDecl(name=name):
            return f"config {name.text}: bool = false"
        case s.EnumDecl(name=name):
            return f"enum {name.text} {{ extra_m }}"
        case s.TypeDecl(name=name):
            return f"type {name.text} = bool"
        case s.RecordDecl(name=name):
            return f"record {name.text} {{ extra_r: bool }}"
        case s.UnionDecl(name=name):
            return f"union {name.text} {{ extra_c }}"
        case s.NetworkDecl(name=name):
            return f"network {name.text}: bag of bool"
        case s.DisplayDecl():
            return "display {}"
        case _:
            return ""


def _changes_of_guards(text: str, action: s.ActionDecl) -> Iterator[Change]:
    """A guard less, which the variant adds; or one more, which it drops."""
    own, start = text[action.span.start : action.span.end], action.span.start
    if action.body:
        at = action.body[0].span.start - start
        more = f"{own[:at]}require extra_g: 1 == 2\n{own[at:]}"
        yield Change(more, f"drop {action.name.text}.extra_g")
    head = [each for each in action.body if isinstance(each, s.Require | s.LetStmt)]
    last = head[-1] if head else None
    if isinstance(last, s.Require) and last.name is not None and action.body[: len(head)] == tuple(head):
        less = own[: last.span.start - start] + own[last.span.end - start :]
        test = text[last.name.span.end : last.span.end]
        yield Change(less, f"require {action.name.text}.{last.name.text}{test}")


def _changes_of_storage(text: str, process: s.ProcessDecl) -> Iterator[Change]:
    """A field that is volatile in place of durable, or the other way round."""
    for field in process.fields:
        if field.storage in {"durable", "volatile"}:
            at, end = (place - process.span.start for place in (field.span.start, process.span.end))
            own = text[process.span.start : process.span.end]
            assert own[at:].startswith(field.storage)
            other = "volatile" if field.storage == "durable" else "durable"
            changed = own[:at] + other + own[at + len(field.storage) : end]
            yield Change(changed, f"{field.storage} {process.sort.text}.{field.name.text}")


# ------------------------------------------------------------------ two files


def as_import(text: str, file: str, chance: Random) -> tuple[str, str]:
    """A text for a file, and one that goes on from it: together they have all declarations."""
    tree = protocol_of(text)
    before, after = [f"protocol {tree.name.text}"], [f'import "{file}"']
    for item in tree.items:
        is_late = isinstance(item, s.VariantDecl | s.CheckDecl) or chance.random() < 0.4
        (after if is_late else before).append(text[item.span.start : item.span.end])
    checks = [item for item in tree.items if isinstance(item, s.CheckDecl)]
    before.insert(chance.randint(1, len(before)), f"check {checks[-1].name.text} {{ scope Nowhere = 3 }}")
    return "\n".join(before) + "\n", "\n".join(after) + "\n"
