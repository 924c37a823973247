"""A variant is its base's text with pieces replaced: syntax → syntax.

So a variant means exactly what the merged text would mean, and every later
pass knows nothing of variants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import spec.syntax.expressions as se
import spec.syntax.tree as s
from spec.diagnostics import suggest
from spec.elaboration.problems import Problems
from spec.wording import listed

_NAMED = (
    s.FunDecl, s.ActionDecl, s.PropertyDecl, s.AssumeDecl, s.ConfigDecl, s.RecordDecl, s.UnionDecl,
    s.EnumDecl, s.TypeDecl, s.NetworkDecl,
)  # fmt: skip


def expand(protocol: s.Protocol, problems: Problems) -> dict[str, s.Protocol]:
    """The base protocol and its variants as separate protocols, by name, in textual order.

    Reports unknown bases, circles, and replacements of what is not there.
    """
    plain = tuple(item for item in protocol.items if not isinstance(item, s.VariantDecl))
    found = {protocol.name.text: replace(protocol, items=plain)}
    waiting = [item for item in protocol.items if isinstance(item, s.VariantDecl)]
    names = [protocol.name.text, *(v.name.text for v in waiting)]
    for variant in waiting:
        if variant.base.text not in found:
            _no_base(variant, names, problems)
        elif variant.name.text in found:
            problems.add(
                "R0201", variant.name.span, f"`{variant.name.text}` is declared twice", help="rename one"
            )
        else:
            base = found[variant.base.text]
            items = _apply(base.items, variant, problems)
            found[variant.name.text] = s.Protocol(variant.name, items, span=variant.span)
    return found


def _no_base(variant: s.VariantDecl, names: list[str], problems: Problems) -> None:
    """Report a variant of an unknown protocol."""
    base = variant.base
    help_ = "a variant must follow what it varies" if base.text in names else suggest(base.text, names)
    problems.add("R0205", base.span, f"there is nothing called `{base.text}` above to vary", help=help_)


def _apply(items: tuple[s.Item, ...], variant: s.VariantDecl, problems: Problems) -> tuple[s.Item, ...]:
    """The items of a protocol with a variant's changes."""
    merged: tuple[s.Item, ...] = tuple(item for item in items if not isinstance(item, s.CheckDecl))
    for change in variant.items:
        match change:
            case s.Replace(new):
                merged = _replace(merged, new, problems)
            case s.Drop():
                merged = _drop(merged, change, problems)
            case s.AddGuard():
                merged = _add_guard(merged, change, problems)
            case s.Restore():
                merged = _restore(merged, change, problems)
            case s.VariantDecl() | s.CheckDecl():
                is_check = isinstance(change, s.CheckDecl)
                what = "a check belongs outside of a variant" if is_check else "variants do not nest"
                help_ = f"write `check NAME of {variant.name.text} {{ … }}` after it"
                problems.add("R0206", change.span, what, help=help_)
            case _:
                merged = (*merged, change)
    return merged


def all_volatile(protocol: s.Protocol) -> s.Protocol:
    """The protocol with every durable field made volatile."""

    def forgotten(item: s.Item) -> s.Item:
        if not isinstance(item, s.ProcessDecl):
            return item
        fields = (replace(f, storage="volatile") if f.storage == "durable" else f for f in item.fields)
        return replace(item, fields=tuple(fields))

    return replace(protocol, items=tuple(map(forgotten, protocol.items)))


def _named(items: Iterable[s.Item], name: str) -> s.Item | None:
    """The item with a name; None if there is none."""
    return next((i for i in items if isinstance(i, _NAMED) and i.name.text == name), None)


def _replace(items: tuple[s.Item, ...], new: s.Item, problems: Problems) -> tuple[s.Item, ...]:
    """The items with one replaced by another of the same name."""
    if isinstance(new, s.DisplayDecl | s.InitDecl):
        return _replace_block(items, new, problems)
    if not isinstance(new, _NAMED):
        help_ = "functions, actions, properties, configs, types and networks have a name to be replaced by"
        problems.add("R0206", new.span, "this declaration cannot be replaced", help=help_)
        return items
    old = _named(items, new.name.text)
    if old is None or type(old) is not type(new):
        names = [i.name.text for i in items if type(i) is type(new) and isinstance(i, _NAMED)]
        help_ = suggest(new.name.text, names) or "leave out `replace` to add something new"
        problems.add("R0207", new.name.span, f"the base has no such `{new.name.text}` to replace", help=help_)
        return items
    return tuple(new if item is old else item for item in items)


def _replace_block(
    items: tuple[s.Item, ...], new: s.DisplayDecl | s.InitDecl, problems: Problems
) -> tuple[s.Item, ...]:
    """The items with the one block of a kind, `display` or `init`, replaced."""
    kind = type(new)
    if not any(isinstance(item, kind) for item in items):
        word = "display" if isinstance(new, s.DisplayDecl) else "init"
        help_ = "leave out `replace` to add one"
        problems.add("R0207", new.span, f"the base has no `{word}` block to replace", help=help_)
        return items
    return tuple(new if isinstance(item, kind) else item for item in items)


def _drop(items: tuple[s.Item, ...], change: s.Drop, problems: Problems) -> tuple[s.Item, ...]:
    """The items without one, or without a guard of an action."""
    if change.guard is not None:
        guard = change.guard
        return _edit_action(items, change.name, problems, lambda a: _without(a, guard, problems))
    old = _named(items, change.name.text)
    if old is None:
        names = [i.name.text for i in items if isinstance(i, _NAMED)]
        help_ = suggest(change.name.text, names)
        problems.add("R0207", change.name.span, f"the base has no `{change.name.text}` to drop", help=help_)
    return tuple(item for item in items if item is not old)


def _without(action: s.ActionDecl, guard: se.Ident, problems: Problems) -> s.ActionDecl:
    """The action without a guard."""
    kept = tuple(st for st in action.body if not (isinstance(st, s.Require) and st.name == guard))
    if len(kept) == len(action.body):
        names = [st.name.text for st in action.body if isinstance(st, s.Require) and st.name]
        what = f"`{action.name.text}` has no guard `{guard.text}`"
        help_ = suggest(guard.text, names) or f"its named guards: {listed(names) or 'none'}"
        problems.add("R0207", guard.span, what, help=help_)
    return replace(action, body=kept)


def _add_guard(items: tuple[s.Item, ...], change: s.AddGuard, problems: Problems) -> tuple[s.Item, ...]:
    """The items with a guard added to an action."""

    def add(action: s.ActionDecl) -> s.ActionDecl:
        taken = next(
            (st for st in action.body if isinstance(st, s.Require) and st.name == change.guard), None
        )
        if taken is not None and taken.name is not None:
            what = f"`{action.name.text}` already has a guard `{change.guard.text}`"
            note = (taken.name.span, "here")
            problems.add(
                "R0201", change.guard.span, what, help="drop it first, or use another name", notes=(note,)
            )
            return action
        head = next(
            (i for i, st in enumerate(action.body) if not isinstance(st, s.Require | s.LetStmt)),
            len(action.body),
        )
        guard = s.Require(change.guard, change.test, span=change.span)
        return replace(action, body=(*action.body[:head], guard, *action.body[head:]))

    return _edit_action(items, change.action, problems, add)


def _edit_action(
    items: tuple[s.Item, ...],
    name: se.Ident,
    problems: Problems,
    edit: Callable[[s.ActionDecl], s.ActionDecl],
) -> tuple[s.Item, ...]:
    """The items with an action changed by `edit`."""
    actions = [item for item in items if isinstance(item, s.ActionDecl)]
    if all(action.name.text != name.text for action in actions):
        names = [a.name.text for a in actions]
        help_ = suggest(name.text, names) or (f"its actions: {listed(names)}" if names else "it has none")
        problems.add("R0207", name.span, f"the base has no action `{name.text}`", help=help_)
        return items
    return tuple(edit(i) if isinstance(i, s.ActionDecl) and i.name.text == name.text else i for i in items)


def _restore(items: tuple[s.Item, ...], change: s.Restore, problems: Problems) -> tuple[s.Item, ...]:
    """The items with the storage class of a process field changed."""
    hit = False

    def edit(var: s.VarDecl) -> s.VarDecl:
        nonlocal hit
        if var.name.text != change.name.text:
            return var
        hit = True
        return replace(var, storage=change.storage)

    edited = tuple(
        replace(item, fields=tuple(map(edit, item.fields)))
        if isinstance(item, s.ProcessDecl) and item.sort.text == change.sort.text
        else item
        for item in items
    )
    if not hit:
        fields = [
            f"{item.sort.text}.{var.name.text}"
            for item in items
            if isinstance(item, s.ProcessDecl)
            for var in item.fields
        ]
        wanted = f"{change.sort.text}.{change.name.text}"
        problems.add("R0207", change.span, f"the base has no field `{wanted}`", help=suggest(wanted, fields))
    return edited
