"""A trace as a story for a terminal: what happened, what each step changed, what is wrong at the end.

The story is lines whose pieces have roles; `terminal.put` gives them the colours of a terminal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import assert_never

from counterexamples.diff import Became, Change, Exchanged, Spliced, StatePlace, changes, places
from counterexamples.ending import ending
from counterexamples.lines import BETWEEN, Line, Piece, Role, count, line, packed, plain, size, wrapped
from counterexamples.trace import (
    Example,
    Lasso,
    Stops,
    Trace,
)
from spec.meaning.semantics import Machine, State, Step
from spec.model.bounds import bound_words
from spec.model.ir import Action, ConfigEntry, ExpectVerdict, Kind, Model, Scope, Value
from spec.model.types import BOOL, Bag, Set, Type
from spec.model.values import members, show

WIDTH = 100  # wider lines are harder to read, however wide the terminal
SHORT = 40  # a whole value this long may be repeated after a change of a part
MARKS = {Kind.ACTION: Piece("  "), Kind.FAULT: Piece("⚡", Role.FAULT), Kind.REPAIR: Piece("✚ ", Role.REPAIR)}
ARROW = Piece(" → ", Role.DIM)
MARGIN = 8  # columns before what a step changed


def text(trace: Trace, *, width: int = WIDTH, ascii_only: bool = False) -> str:
    """The story of a trace as text without colour. Costs a comparison of two states for each step."""
    return plain(story(trace, width=width), ascii_only=ascii_only)


def story(
    trace: Trace, *, width: int = WIDTH, bounds_shown: bool = False, part: range | None = None
) -> Iterator[Line]:
    """The lines of a trace's story: the violation, the start, the steps, the end.

    `bounds_shown` leaves out the model, scope and configuration, which a card has just shown.
    With a `part`, only its steps are shown, from the state that they begin in.
    """
    machine = Machine(trace.model, trace.scope)
    actions = {action.name: action for action in trace.model.actions}
    role = Role.GOOD if isinstance(trace.ending, Example | Stops) else Role.BAD
    yield from wrapped((), trace.headline(), width, role if trace.is_run else Role.UNSURE)
    if not bounds_shown:
        yield from bounds(trace, width)
    yield ()
    first, last = (1, len(trace.steps)) if part is None else (max(part.start, 1), part.stop - 1)
    yield from _start(trace, width, first - 1)
    loop = trace.ending.loop if isinstance(trace.ending, Lasso) else None
    digits = len(str(len(trace.steps)))
    for number, step in enumerate(trace.steps[first - 1 : last], first):
        if loop == number - 1:
            yield line(Piece(f"{'':>{max(digits, 3)}} ↻  from here on, for ever", Role.UNSURE))
        before, after = trace.states[number - 1 : number + 1]
        label = line(Piece(f"{number:>{max(digits, 3)}} ", Role.DIM), MARKS[actions[step.action].kind], " ")
        yield from step_lines(machine, actions[step.action], step, before, label, width)
        yield from change_lines(changes(trace.model, trace.scope, before, after), trace.scope, width)
    yield ()
    if last < len(trace.steps):
        yield line(Piece(f"… {count(len(trace.steps) - last, 'more step')}", Role.DIM))
    else:
        yield from ending(machine, trace, width)


# ---------------------------------------------------------------------- header


def bounds(trace: Trace, width: int = WIDTH, *, by_key: bool = False) -> Iterator[Line]:
    """The lines on the model, scope and configuration of a trace.

    With `by_key` settings have the names of the real system, where the model has them.
    """
    scope = trace.scope
    items = [line("model ", Piece(trace.model.name, Role.STRONG))]
    if trace.check:
        items.append(line(f"check {trace.check}"))
    items += [line(f"{name} = {len(members)}") for name, members in scope.sorts.items()]
    items += [line(f"{name} = {limit}") for name, limit in bound_words(scope).items()]
    entries = {entry.name: entry for entry in trace.model.configs}
    for name, value in scope.config.items():
        of = entries[name], value, scope
        items.append(line(setting_by_key(trace.model, *of) if by_key else setting(*of)))
    yield from packed((), items, width, BETWEEN)


def setting(entry: ConfigEntry, value: Value, scope: Scope) -> str:
    """A configuration entry as text: `min_isr = 2`."""
    return f"{entry.name} = {show(entry.type, value, scope)}"


def setting_by_key(model: Model, entry: ConfigEntry, value: Value, scope: Scope) -> str:
    """A configuration entry in the real system's terms: `min.insync.replicas=2`, if the model has them.

    A key without a list has the model's values; of a list, `acks=0|1|all`, the one at the value's
    place, unless that is `?` or there is none.  A key that several settings have is used for none of them.
    """
    key, is_listed, listed = (entry.key or "").partition("=")
    is_shared = sum(key == each.key_name for each in model.configs) > 1
    shown = _listed(entry, value, listed.split("|"), scope) if is_listed else show(entry.type, value, scope)
    return f"{key}={shown}" if key and shown and not is_shared else setting(entry, value, scope)


def _listed(entry: ConfigEntry, value: Value, listed: list[str], scope: Scope) -> str:
    """The real system's spelling of a value; empty if there is none."""
    try:
        place = members(entry.type, scope).index(value)
    except (TypeError, MemoryError):  # whose values cannot be listed
        return ""
    return "" if place >= len(listed) or listed[place] == "?" else listed[place]


def said_by_check(trace: Trace) -> str:
    """The check's `says` text as a title; empty if it does not describe this run.

    It does where the check expects what the trace shows, and its scope and settings were not changed.
    """
    found = next((each for each in trace.model.checks if each.name == trace.check), None)
    if found is None or found.says is None or found.scope != trace.scope or not trace.is_run:
        return ""
    shown = trace.property, isinstance(trace.ending, Example)
    verdicts = (each for each in found.expect if isinstance(each, ExpectVerdict))
    is_expected = shown in {(each.property, each.holds) for each in verdicts}
    first, space, rest = found.says.partition(" ")
    first = first.capitalize() if first.isalpha() and first.islower() else first
    return first + space + rest if is_expected else ""


# ----------------------------------------------------------------- start, steps


def _start(trace: Trace, width: int, number: int) -> Iterator[Line]:
    """The lines on the initial state; members with the same values share a line."""
    what = f"the state after {count(number, 'step')}" if number else start_words(trace)
    yield line(Piece(f"{number:>3} ", Role.DIM), f"   {what}")
    found = list(places(trace.model, trace.scope, trace.states[number]))
    for label, group in _grouped([place for place in found if place.member is None]):
        yield from packed(label, [_is(place, trace.scope) for place in group], width, BETWEEN)
    alike: dict[tuple[object, ...], list[str]] = {}
    rows: dict[tuple[object, ...], list[StatePlace]] = {}
    for member, fields in groupby((p for p in found if p.member is not None), key=lambda p: p.member):
        row = list(fields)
        key = (row[0].variable.owner, *(place.value for place in row))
        alike.setdefault(key, []).append(member or "")
        rows[key] = row
    for key, names in alike.items():
        label = line(" " * MARGIN, Piece(", ".join(names), Role.PLACE), "  ")
        yield from packed(label, [_is(place, trace.scope) for place in rows[key]], width, BETWEEN)


def start_words(trace: Trace) -> str:
    """The heading of the initial state."""
    return "the start" if trace.is_run else "some state in which all claims are true; it may not be reachable"


def _is(place: StatePlace, scope: Scope) -> Line:
    """A part of the state with its value."""
    return line(Piece(_short(place.path, place) + " ", Role.PLACE), show(place.type, place.value, scope))


def step_lines(
    machine: Machine, action: Action, step: Step, before: State, label: Line, width: int
) -> Iterator[Line]:
    """The lines on a step: the action's sentence, its name, parameters and choices."""
    name = machine.name(step)
    role = {Kind.ACTION: Role.STRONG, Kind.FAULT: Role.FAULT, Kind.REPAIR: Role.REPAIR}[action.kind]
    sentence = machine.says(action, step, before) if action.says else ""
    if not sentence:
        yield (*label, Piece(name, role))
        return
    *others, last = wrapped(label, sentence, width, role)
    yield from others
    if size(last) + 3 + len(name) <= width:
        yield (*last, Piece(f"   {name}", Role.DIM))
    else:
        yield last
        yield line(" " * size(label), Piece(name, Role.DIM))


def change_lines(
    found: tuple[Change, ...], scope: Scope, width: int, *, both: bool = False
) -> Iterator[Line]:
    """The lines on changes, a member's fields on one line if they fit; see `change_line`."""
    if not found:
        yield line(" " * MARGIN, Piece("nothing changes", Role.DIM))
    for label, group in _grouped([change.place for change in found]):
        mine = [change for change in found if change.place in group]
        yield from packed(label, [change_line(change, scope, both=both) for change in mine], width, BETWEEN)


def _grouped(found: list[StatePlace]) -> Iterator[tuple[Line, list[StatePlace]]]:
    """The parts that share a line, with its label: the member, `ghost`, or nothing."""
    for title, group in groupby(found, key=_title):
        role = Role.DIM if title == "ghost" else Role.PLACE
        yield line(" " * MARGIN, *((Piece(title, role), "  ") if title else ())), list(group)


def _title(place: StatePlace) -> str:
    """The label of a part's line."""
    return place.member or ("ghost" if place.variable.ghost else "")


def _short(path: str, place: StatePlace) -> str:
    """The path without the member, which is the line's label."""
    return path.removeprefix(f"{place.member}.") if place.member else path


# --------------------------------------------------------------------- changes


def change_line(change: Change, scope: Scope, *, both: bool = False) -> Line:
    """A change without its member: `hw 0 → 1`, `log += [2], now [1, 2]`, `isr −r3, now {r1, r2}`.

    `both` is for values of which the second did not come of the first: `log [1] → [1, 2]`.
    """
    of, before, after = change.type, change.before, change.after
    place = Piece(_short(change.path, change.place) + " ", Role.PLACE)
    match change.how:
        case Became() if of == BOOL and not both:
            return line(place, Piece("is now ", Role.DIM), Piece(show(of, after, scope), Role.STRONG))
        case Spliced() as how if not both:
            return line(place, *_spliced(how, of, before, after, scope))
        case Became() | Spliced():
            return line(place, show(of, before, scope), ARROW, Piece(show(of, after, scope), Role.STRONG))
        case Exchanged(added, removed):
            return line(place, *_exchanged(added, removed, of, after, scope))
        case _:
            assert_never(change.how)


def _spliced(how: Spliced, of: Type, before: Value, after: Value, scope: Scope) -> Iterator[Piece]:
    """The pieces on how a sequence changed."""
    parts: list[list[Piece]] = []
    if how.dropped:
        parts.append([Piece("took "), Piece(show(of, before[: how.dropped], scope), Role.STRONG)])
    if how.cut is not None:
        gone = Piece(f" (gone: {show(of, before[how.cut :], scope)})")
        left = count(how.cut, "entry").replace("entrys", "entries") if how.cut else "nothing"
        parts.append([Piece(f"cut to {left}", Role.STRONG), gone])
    if how.added:
        parts.append([Piece("+= "), Piece(show(of, how.added, scope), Role.STRONG)])
    for number, part in enumerate(parts):
        yield from ([Piece(", then "), *part] if number else part)
    if how.added and len(after) > len(how.added):
        yield from _now(of, after, scope)


def _exchanged(
    added: tuple[Value, ...], removed: tuple[Value, ...], of: Type, after: Value, scope: Scope
) -> Iterator[Piece]:
    """The pieces on what a set or bag lost and got, and its value if that is short."""
    one = of.of if isinstance(of, Set | Bag) else of
    parts = [*_counted("−", removed, one, scope), *_counted("+", added, one, scope)]
    yield Piece(" ".join(parts), Role.STRONG)
    if len(after) != len(added):
        yield from _now(of, after, scope)


def _counted(sign: str, values: tuple[Value, ...], of: Type, scope: Scope) -> Iterator[str]:
    """Each value once with its number of copies: `−r3`, `+2 × Ack(to: r1)`."""
    for value, copies in Counter(values).items():
        yield f"{sign}{f'{copies} × ' if copies > 1 else ''}{show(of, value, scope)}"


def _now(of: Type, after: Value, scope: Scope) -> Iterator[Piece]:
    """The pieces with the whole new value, if it is short."""
    shown = show(of, after, scope)
    if len(shown) <= SHORT:
        yield Piece(f", now {shown}", Role.DIM)
