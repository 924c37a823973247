"""What a page shows of each step: what was done and why it was possible, each replica, the whole state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from counterexamples.diff import Change, StatePlace, changes, places
from counterexamples.html.followed import Followed, follow
from counterexamples.lines import one_line, plain
from counterexamples.pictures.drawing import TALL, draw_log, log_width
from counterexamples.pictures.picture import Arrow, Picture, PictureRow, ReplicaState
from counterexamples.pictures.selection import ALL, Selection
from counterexamples.pictures.words import badge
from counterexamples.text import change_line
from counterexamples.trace import Trace
from spec.frozen import frozen
from spec.meaning.semantics import Machine, Step
from spec.model.ir import Action, Kind, Scope, Value
from spec.model.types import Type
from spec.model.values import show
from spec.source import Span

LONGEST = 600  # characters of a value that are shown
MOST = 400  # entries of a collection that are looked at
WIDEST, ABOVE, BELOW = 460.0, 16, 18  # a log: its width, and room for words around its boxes


@frozen
class DrawnLog:
    """A log drawn in SVG: shapes, size, and a text alternative."""

    shapes: str
    width: float
    height: float
    words: str


@frozen
class ReplicaBox:
    """A replica's state in a frame; `touched` if the step changed or named it."""

    name: str
    badge: str
    membership: str
    is_up: bool
    is_member: bool
    is_broken: bool
    touched: bool
    log: DrawnLog | None
    events: tuple[str, ...]


@frozen
class StateCell:
    """A value of the state, with the value before if the step changed it."""

    text: str
    before: str | None = None


@frozen
class SortFields:
    """The fields of a sort's processes: a row for each field, a column for each member."""

    sort: str
    members: tuple[str, ...]
    rows: tuple[tuple[str, tuple[StateCell, ...]], ...]


@frozen
class GuardText:
    """A guard of the step: its name, text and value."""

    name: str
    text: str
    holds: bool


@frozen
class CodeLine:
    """A line of the model's text: a mark, its number, and its pieces by kind."""

    number: int
    mark: str
    kind: str
    pieces: tuple[tuple[str, str], ...]


@frozen
class Done:
    """A step in the model's text: guards, parameters and lines."""

    name: str
    given: tuple[tuple[str, str], ...]
    guards: tuple[GuardText, ...]
    code: tuple[CodeLine, ...]
    file: str


@frozen
class HtmlFrame:
    """A state of the run with the step that led to it, after `skipped` steps not shown."""

    number: int
    kind: Kind
    sentence: str
    done: Done | None
    talk: tuple[Arrow, ...]
    replicas: tuple[ReplicaBox, ...]
    acknowledged: tuple[str, ...]
    changed: tuple[str, ...]
    whole: tuple[tuple[str, StateCell], ...]
    ghosts: tuple[tuple[str, StateCell], ...]
    fields: tuple[SortFields, ...]
    skipped: int = 0
    is_last: bool = False


def frames(trace: Trace, picture: Picture, selection: Selection = ALL) -> Iterator[HtmlFrame]:
    """The frames of a trace, one for each row of its picture, with what a selection shows.

    Costs, for each, a comparison of two states and taking its step once.
    """
    machine = Machine(trace.model, trace.scope)
    skipped = 0
    for row in picture.rows:
        if row.skipped:
            skipped += row.skipped
            continue
        yield _frame(machine, trace, picture, row, skipped, selection)
        skipped = 0


def _frame(
    machine: Machine, trace: Trace, picture: Picture, row: PictureRow, skipped: int, selection: Selection
) -> HtmlFrame:
    """The frame of one row."""
    scope, after = trace.scope, trace.states[row.number]
    before = trace.states[row.number - 1] if row.number else after
    found = tuple(
        change
        for change in changes(trace.model, scope, before, after)
        if _is_shown(trace, selection, change.place, change.path)
    )
    old = {place.path: place.value for place in places(trace.model, scope, before)}
    now = [p for p in places(trace.model, scope, after) if _is_shown(trace, selection, p, p.path)]
    whole = [place for place in now if place.member is None]
    return HtmlFrame(
        row.number,
        row.kind,
        row.sentence,
        _done(machine, trace, row.number) if row.number else None,
        row.arrows,
        tuple(_replica(picture, row, name, found) for name in row.replicas),
        row.acknowledged,
        tuple(_change(change, scope) for change in found),
        tuple((p.path, _cell(p, old, scope)) for p in whole if not p.variable.ghost),
        tuple((p.path, _cell(p, old, scope)) for p in whole if p.variable.ghost),
        tuple(_fields([p for p in now if p.member is not None], old, scope)),
        skipped,
        row.is_last,
    )


# ------------------------------------------------------------------------ the state


def _is_shown(trace: Trace, selection: Selection, place: StatePlace, path: str) -> bool:
    """Whether a selection shows a part of the state; ghosts too, where it is of all."""
    if place.variable.ghost and not (selection.show.has_parts or selection.hide.has_parts):
        return selection.has_lane(place)
    return selection.has_place(trace.model, place, path)


def _replica(picture: Picture, row: PictureRow, name: str, found: Sequence[Change]) -> ReplicaBox:
    """A replica's box in a row."""
    replica = row.replicas[name]
    member = replica.member
    membership = "" if member is None else f"{'in' if member else 'not in'} {picture.membership}"
    return ReplicaBox(
        name,
        badge(replica),
        membership,
        replica.up,
        bool(member),
        row.is_last and name in picture.broken,
        row.number > 0 and (name in row.events or any(change.place.member == name for change in found)),
        _log(name, replica),
        row.events.get(name, ()),
    )


def _log(name: str, replica: ReplicaState) -> DrawnLog | None:
    """A replica's log as boxes, as wide as it must be and no wider than a page has room."""
    if replica.log is None:
        return None
    width = min(max(log_width(replica) + 8, 90), WIDEST)
    shapes = "".join(draw_log(0, ABOVE, replica, width))
    return DrawnLog(shapes, width, ABOVE + TALL + BELOW, _log_words(name, replica))


def _log_words(name: str, replica: ReplicaState) -> str:
    """The log for screen readers: "log of A: 1 (e1), acknowledged; high watermark 1"."""
    entries = []
    for box in (replica.log or ())[-MOST:]:
        more = [f"epoch {box.under.lstrip('et')}"] if box.under else []
        more += [
            word
            for is_so, word in (
                (box.acknowledged, "acknowledged"),
                (box.fresh, "new"),
                (box.cut, "cut off"),
                (box.missing, "lost"),
                (box.bad, "wrong"),
            )
            if is_so
        ]
        entries.append(f"{box.text}{f' ({chr(44).join(more)})' if more else ''}".replace(",", ", "))
    mark = "" if replica.high_watermark is None else f"; high watermark {replica.high_watermark}"
    return f"log of {name}: {', '.join(entries) or 'empty'}{mark}"


def _cell(place: StatePlace, old: Mapping[str, Value], scope: Scope) -> StateCell:
    """The cell of a part of the state."""
    text = shown(place.type, place.value, scope)
    before = old[place.path]
    return StateCell(text, None if before == place.value else shown(place.type, before, scope))


def _fields(found: Sequence[StatePlace], old: Mapping[str, Value], scope: Scope) -> Iterator[SortFields]:
    """The process fields as tables by sort."""
    for sort, group in groupby(found, key=lambda place: place.variable.owner):
        parts = list(group)
        members = tuple(dict.fromkeys(place.member or "" for place in parts))
        rows: dict[str, list[StateCell]] = {}
        for place in parts:
            rows.setdefault(place.path.removeprefix(f"{place.member}."), []).append(_cell(place, old, scope))
        yield SortFields(sort or "", members, tuple((name, tuple(cells)) for name, cells in rows.items()))


def shown(of: Type, value: Value, scope: Scope) -> str:
    """A value in the language's syntax; a long one is cut, with its size."""
    if isinstance(value, tuple | frozenset) and len(value) > MOST:
        return f"({len(value):,} entries, too many to be shown here)"
    text = show(of, value, scope)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text):,} characters)"


def _change(change: Change, scope: Scope) -> str:
    """A change in words, cut if it is long."""
    if any(isinstance(v, tuple | frozenset) and len(v) > MOST for v in (change.before, change.after)):
        return f"{change.path} is another"
    change_text = plain([change_line(change, scope)]).strip()
    text = f"{change.place.member}.{change_text}" if change.place.member else change_text
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


# ---------------------------------------------------------------- the step in the text


def _done(machine: Machine, trace: Trace, number: int) -> Done:
    """A step in the model's text."""
    step, before = trace.steps[number - 1], trace.states[number - 1]
    action = trace.model.action(step.action)
    way = follow(trace.model, trace.scope, before, step)
    return Done(
        machine.name(step),
        tuple(_given(action, step, trace.scope)),
        tuple(_guard(trace, guard.name, guard.span, holds) for guard, holds in way.guards),
        tuple(_code(trace, action, way)),
        trace.model.source.place(action.span.start)[0],
    )


def _given(action: Action, step: Step, scope: Scope) -> Iterator[tuple[str, str]]:
    """The step's parameters and choices, with their values."""
    for param, value in zip(action.params, step.args, strict=False):
        yield param.name, shown(param.type, value, scope)
    for choice in step.choices:
        yield choice.name, shown(choice.type, choice.value, scope)


def _guard(trace: Trace, name: str | None, span: Span, holds: bool) -> GuardText:  # noqa: FBT001 - a value
    """A guard with its text and value."""
    text = one_line(trace.model.source.at(span))
    test = text.partition(":")[2] if name else text.removeprefix("require")
    return GuardText(name or "", test.strip() or text, holds)


def _code(trace: Trace, action: Action, way: Followed) -> Iterator[CodeLine]:
    """The lines of an action, with the executed and the skipped ones marked."""
    source = trace.model.source
    kinds: list[tuple[Span, str]] = [
        (guard.span, "guard" if holds else "refused") for guard, holds in way.guards
    ]
    kinds += [(span, "done") for span in way.done]
    kinds += [(span, "passed") for span in way.passed]
    first, last = source.position(action.span.start)[0], source.position(max(action.span.end - 1, 0))[0]
    start = action.span.start - source.position(action.span.start)[1] + 1
    above = first - source.place(action.span.start)[1]  # lines of other files
    for number in range(first, last + 1):
        text = source.line(number)
        inside = sorted(
            (s.start - start, s.end - start, k)
            for s, k in kinds
            if s.start < start + len(text) and s.end > start
        )
        found = {kind for _, _, kind in inside}
        kind = next((each for each in ("refused", "guard", "done", "passed") if each in found), "")
        yield CodeLine(number - above, MARKS[kind], kind, tuple(_pieces(text, inside)))
        start += len(text) + (2 if source.text[start + len(text) : start + len(text) + 2] == "\r\n" else 1)


MARKS = {"": "", "guard": "✓", "refused": "✗", "done": "▶", "passed": "–"}


def _pieces(text: str, inside: Sequence[tuple[int, int, str]]) -> Iterator[tuple[str, str]]:
    """A line split at the ends of the marked stretches; a nested stretch belongs to its outer one."""
    at = 0
    for start, end, kind in inside:
        begin, stop = max(start, at), min(end, len(text))
        if begin >= stop:
            continue
        if begin > at:
            yield "", text[at:begin]
        yield kind, text[begin:stop]
        at = stop
    if at < len(text):
        yield "", text[at:]
