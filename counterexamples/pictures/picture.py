"""A trace as a picture, before anybody draws it: lanes, arrows, logs as boxes, what was lost.

Every format (SVG, Mermaid, PlantUML, a storyboard, text) draws the same
picture.  It is made from the trace alone: the model's sentences, the parts of
its state that play a role (see `roles`), and what each step changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum as PyEnum

from counterexamples.diff import Change, Exchanged, Spliced, changes
from counterexamples.ending import failures, property_says
from counterexamples.explanation import Explanation
from counterexamples.lines import plain
from counterexamples.pictures.roles import Part, Roles, leads, roles
from counterexamples.text import bounds, headline
from counterexamples.trace import Example, Stops, Trace
from spec.ir import Kind, Storage, Value
from spec.semantics import Machine, State, Step
from spec.types import Bag, Map, Nat, Option, Record, Seq, Set, Sort, Type, Union
from spec.values import ordered, show

CONTROLLER = "controller"
CLIENT = "client"


class Mark(PyEnum):
    """What an arrow stands for."""

    MESSAGE = "message"
    COPY = "copy"  # one member's log becomes more like another's
    DECISION = "decision"  # of the controller
    RECORD = "record"  # a client's
    ANSWER = "answer"  # to a client
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Box:
    """An entry of a log: `text` names its record, `under` its epoch."""

    text: str
    under: str = ""
    fresh: bool = False  # the step wrote it
    cut: bool = False  # the step removed it
    bad: bool = False  # what is wrong at the end is about it
    missing: bool = False  # it was acknowledged and is not there
    told: bool = False  # a client was told that it is stored


@dataclass(frozen=True, slots=True)
class Standing:
    """How a replica stands after a step; None and empty where the model has no such part."""

    up: bool = True
    leads: bool = False  # takes itself for the leader
    chosen: bool | None = None  # the controller takes it for the leader
    follows: str = ""  # whom it takes for the leader
    member: bool | None = None
    epoch: str = ""
    log: tuple[Box, ...] | None = None
    high_watermark: int | None = None
    mark: str = "hw"  # what the model calls it


@dataclass(frozen=True, slots=True)
class Arrow:
    """From one lane to another, or to the same."""

    start: str
    end: str
    text: str
    mark: Mark


@dataclass(frozen=True, slots=True)
class Row:
    """A step: what was done, and in each lane that it touched how things stand then.

    By lane, `events` are what happened there in words, `notes` the changes that nothing
    else shows.  `told` is what clients have been told is stored.  Row 0 is the start; a row
    with `skipped` stands for that many steps, up to its own, which are not drawn.
    """

    number: int
    kind: Kind
    action: str
    sentence: str
    arrows: tuple[Arrow, ...] = ()
    shown: tuple[str, ...] = ()
    standing: Mapping[str, Standing] = field(default_factory=dict)
    events: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    told: tuple[str, ...] = ()
    skipped: int = 0
    is_last: bool = False
    is_needed: bool = True  # unless an explanation says that all goes wrong without it too


@dataclass(frozen=True, slots=True)
class Picture:
    """Everything that a format draws; `verdict` is what is wrong at the end, in lines."""

    title: str
    bounds: str
    caption: str
    lanes: tuple[str, ...]
    replicas: tuple[str, ...]
    rows: tuple[Row, ...]
    verdict: tuple[str, ...]
    is_bad: bool
    broken: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    membership: str = ""  # what the parts are called that make a replica a member
    loop: int | None = None  # the row after which the run repeats
    no_return: int | None = None  # the step from which on no action or repair avoids it, if that is known


def picture(trace: Trace, part: range | None = None, explanation: Explanation | None = None) -> Picture:
    """The picture of a trace, or of the steps in `part`, counted from 1.

    Costs a comparison of two states for each step.  With no part given, the middle
    of a trace of more than some hundred steps is left out, faults and all.  With an
    explanation, steps that are not needed are marked, and the point of no return.
    """
    made = _Drawing(trace).picture(part)
    return made if explanation is None else _explained(made, explanation)


def _explained(made: Picture, why: Explanation) -> Picture:
    """A picture with the marks that an explanation gives."""
    is_needed = why.core.numbers
    rows = tuple(
        replace(row, is_needed=row.skipped > 0 or row.number == 0 or row.number in is_needed)
        for row in made.rows
    )
    return replace(made, rows=rows, no_return=None if why.no_return is None else why.no_return.state)


class _Drawing:
    """One picture in the making."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._machine = Machine(trace.model, trace.scope)
        self._actions = {action.name: action for action in trace.model.actions}
        self._roles: Roles = roles(trace.model)
        self._lane_of = {
            (sort, ordinal): name
            for sort in self._roles.sorts
            for ordinal, name in enumerate(trace.scope.sorts[sort])
        }
        self._sort_of = {name: key for key, name in self._lane_of.items()}
        self._sent: dict[tuple[int, Value], str] = {}  # who sent what, by network and message
        self._failures = failures(trace)
        self._broken = self._named_lanes()
        self._lost = self._lost_records()

    def picture(self, part: range | None) -> Picture:
        """The whole, or what is drawn of it."""
        trace = self._trace
        rows = [*self._rows(part)]
        if rows[-1].number == len(trace.steps):
            rows[-1] = self._judged(rows[-1])
        if not any(standing.log for row in rows for standing in row.standing.values()):
            rows = [_without_logs(row) for row in rows]
        used = {name for row in rows for arrow in row.arrows for name in (arrow.start, arrow.end)}
        used |= {name for row in rows for name in (*row.notes, *row.events)}
        lanes = [name for name in (CLIENT, CONTROLLER) if name in used]
        replicas = [*self._lane_of.values()]
        lanes[len(lanes) and 1 :] = [*lanes[len(lanes) and 1 :], *replicas]
        loop = getattr(trace.ending, "loop", None)
        return Picture(
            headline(trace),
            plain(bounds(trace, 10_000)).strip(),
            self._caption(rows),
            tuple(lanes),
            tuple(replicas),
            tuple(rows),
            tuple(self._verdict()),
            not isinstance(trace.ending, Example | Stops),
            self._broken,
            tuple(self._lost),
            self._membership,
            loop,
        )

    # ---------------------------------------------------------------- standings

    def _standing(self, name: str, state: State, before: State | None) -> Standing:
        """How a replica stands, with what the step before did to its log."""
        sort, member = self._sort_of[name]
        found = Standing()
        control = self._roles.whole.get("leader")
        if control is not None and _sort(control.type) == sort:
            found = replace(found, chosen=control.of(state) == member)
        if up := self._roles.field(sort, "up"):
            found = replace(found, up=bool(up.of(state, member)))
        if leader := self._roles.field(sort, "leads"):
            value = leader.of(state, member)
            found = replace(found, leads=found.up and leads(leader, value, member))
            if found.up and _sort(leader.type) == sort and value not in {None, member}:
                found = replace(found, follows=self._lane_of[sort, value])
        if (members := self._roles.whole.get("membership")) and _element(members.type) == Sort(sort):
            found = replace(found, member=member in members.of(state))
        if epoch := self._roles.field(sort, "epoch"):
            found = replace(found, epoch=f"{epoch.name} {epoch.of(state, member)}")
        if log := self._roles.field(sort, "log"):
            found = replace(found, log=self._boxes(log, state, before, member))
        if mark := self._roles.field(sort, "high_watermark"):
            found = replace(found, high_watermark=int(mark.of(state, member)), mark=mark.name)
        return found

    def _boxes(self, log: Part, state: State, before: State | None, member: int) -> tuple[Box, ...]:
        if not isinstance(log.type, Seq):
            return ()
        now = log.of(state, member)
        old = now if before is None else log.of(before, member)
        same = next(
            (i for i, (a, b) in enumerate(zip(old, now, strict=False)) if a != b), min(map(len, (old, now)))
        )
        told = self._told_values(state)
        kept = [
            replace(
                self._box(log.type.of, entry),
                fresh=i >= same,
                told=self._holds(log.type.of, entry) & told != set(),
            )
            for i, entry in enumerate(now)
        ]
        gone = (
            [replace(self._box(log.type.of, entry), cut=True) for entry in old[same:]]
            if same < len(old)
            else []
        )
        return (*kept, *gone)

    def _box(self, of: Type, entry: Value) -> Box:
        """An entry by the record that it holds, above the epoch it was written in."""
        scope = self._trace.scope
        if not isinstance(of, Record):
            return Box(show(of, entry, scope))
        shown = {f.name: show(f.type, value, scope) for f, value in zip(of.fields, entry, strict=True)}
        epoch = next((name for name in EPOCHS if name in shown), None)
        under = "" if epoch is None else f"{epoch[0]}{shown.pop(epoch)}"
        if self._roles.label in shown:
            return Box(shown[self._roles.label], under)
        return Box(",".join(shown.values()) or under, under if shown else "")

    # --------------------------------------------------------------------- rows

    def _rows(self, part: range | None) -> Iterator[Row]:
        """Those that are drawn, with one for each gap between them."""
        last = len(self._trace.steps)
        drawn = [n for n in range(last + 1) if n in part] if part is not None else [*range(last + 1)]
        if part is None and last > MOST_STEPS:
            drawn = [*drawn[: MOST_STEPS // 4], *drawn[-(MOST_STEPS * 3 // 4) :]]
        before = -1
        for number in drawn or [last]:
            if number > before + 1:
                yield self._gap(before + 1, number - 1)
            yield self._row(number) if number else self._start()
            before = number
        if before < last:
            yield self._gap(before + 1, last)

    def _gap(self, first: int, last: int) -> Row:
        """Steps that are not drawn, and how things stand after them."""
        state = self._trace.states[last]
        standing = {name: self._standing(name, state, None) for name in self._sort_of}
        first = max(first, 1)
        told = f"steps {first} to {last} are not drawn" if last > first else f"step {last} is not drawn"
        told = told if last else "the start is not drawn"
        names = tuple(self._sort_of)
        return Row(
            last, Kind.ACTION, "", told, (), names, standing, told=self._told(state), skipped=last - first + 1
        )

    def _start(self) -> Row:
        state = self._trace.states[0]
        names = tuple(self._sort_of)
        standing = {name: self._standing(name, state, None) for name in names}
        return Row(0, Kind.ACTION, "", "the start", (), names, standing, told=self._told(state))

    def _row(self, number: int) -> Row:
        trace = self._trace
        step, before, after = trace.steps[number - 1], *trace.states[number - 1 : number + 1]
        action = self._actions[step.action]
        found = changes(trace.model, trace.scope, before, after)
        standing = {name: self._standing(name, after, before) for name in self._sort_of}
        old = {name: self._standing(name, before, None) for name in self._sort_of}
        actors = self._actors(step)
        arrows = tuple(self._arrows(step, actors, found, old, standing))
        is_decided = any(arrow.mark is Mark.DECISION for arrow in arrows)
        changed = {change.place.member for change in found} | {
            n for n in old if not _alike(old[n], standing[n])
        }
        ends = {arrow.end for arrow in arrows} | {arrow.start for arrow in arrows}
        shown = tuple(n for n in self._sort_of if n in changed or n in actors or n in ends)
        down = {name for name in old if old[name].up and not standing[name].up}
        notes: dict[str, tuple[str, ...]] = {}
        for change in found:
            if change.place.variable.ghost or self._is_drawn(change) or _is_forgotten(change, down):
                continue
            lane = change.place.member or CONTROLLER
            notes[lane] = (*notes.get(lane, ()), self._note(change))
        events = {name: happened for name in old if (happened := self._events(old[name], standing[name]))}
        for lane, told in self._posted(
            CONTROLLER if is_decided else next(iter(actors), CONTROLLER), step, found
        ):
            beside = events if action.kind is Kind.FAULT else notes
            beside[lane] = (*beside.get(lane, ()), told)
        return Row(
            number,
            action.kind,
            self._machine.name(step),
            self._machine.says(action, step, before),
            arrows,
            shown,
            standing,
            events,
            notes,
            self._told(after),
        )

    def _events(self, old: Standing, new: Standing) -> tuple[str, ...]:
        """What became of a replica's membership."""
        if old.member == new.member or not self._membership:
            return ()
        return (f"{'joins' if new.member else 'leaves'} {self._membership}",)

    @property
    def _membership(self) -> str:
        """What the set is called that replicas join and leave."""
        part = self._roles.whole.get("membership")
        if part is None:
            return ""
        return "the ISR" if part.name == "isr" else f"the {part.name.replace('_', ' ')}"

    def _actors(self, step: Step) -> list[str]:
        """The replicas that a step's parameters and choices name."""
        action = self._actions[step.action]
        given = [(p.type, v) for p, v in zip(action.params, step.args, strict=True)]
        given += [(choice.type, choice.value) for choice in step.choices]
        names = [self._lane(of, value) for of, value in given]
        return [*dict.fromkeys(name for name in names if name is not None)]

    def _lane(self, of: Type, value: Value) -> str | None:
        sort = _sort(of)
        return None if sort is None or value is None else self._lane_of.get((sort, value))

    def _is_drawn(self, change: Change) -> bool:
        """Whether a change is seen in boxes, bars and marks, so that words need not repeat it."""
        owner = change.place.variable.owner
        if owner is None:
            return change.place.variable.network is not None
        name = change.place.variable.name.removeprefix(f"{owner}.")
        drawn = [self._roles.field(owner, role) for role in ("log", "high_watermark", "up", "epoch", "leads")]
        return any(part is not None and part.name == name for part in drawn)

    def _note(self, change: Change) -> str:
        scope = self._trace.scope
        place = change.path.removeprefix(f"{change.place.member}.")
        if change.place.member is None and self._is_of_control(change):
            place = place.rpartition(".")[2]
        match change.how:
            case Exchanged():
                return f"{place} {show(change.type, change.after, scope)}"
            case Spliced():
                return f"{place} {show(change.type, change.after, scope)}"
            case _:
                before, after = (show(change.type, v, scope) for v in (change.before, change.after))
                return f"{place} {before} → {after}"

    # ------------------------------------------------------------------- arrows

    def _arrows(
        self,
        step: Step,
        actors: list[str],
        found: tuple[Change, ...],
        old: Mapping[str, Standing],
        new: Mapping[str, Standing],
    ) -> Iterator[Arrow]:
        is_fault = self._actions[step.action].kind is Kind.FAULT
        if is_fault:
            return
        yield from self._received(step, actors)
        known = {(b.text, b.under) for n in old for b in old[n].log or ()}
        for name, standing in new.items():
            boxes = [box for box in standing.log or () if box.fresh]
            others = [other for other in actors if other != name]
            if any((box.text, box.under) not in known for box in boxes):
                yield Arrow(CLIENT, name, self._record(name, boxes), Mark.RECORD)
            elif boxes and others:
                yield Arrow(others[0], name, ", ".join(map(_entry, boxes)), Mark.COPY)
            elif others and new[others[0]].up and any(box.cut for box in standing.log or ()):
                yield Arrow(others[0], name, "cut the log", Mark.COPY)
        decided = [c for c in found if c.place.member is None and not c.place.variable.ghost]
        if any(c.place.variable.network is None and self._is_of_control(c) for c in decided):
            for name in actors[:1]:
                yield Arrow(CONTROLLER, name, step.action, Mark.DECISION)
        yield from self._answers(actors, found, new)

    def _record(self, name: str, boxes: list[Box]) -> str:
        """What a client sends: with the name of its type where the value alone would say little."""
        text = ", ".join(box.text for box in boxes)
        log = self._roles.field(self._sort_of[name][0], "log")
        of = _element(log.type) if log is not None else None
        parts = [f.type for f in of.fields if f.name not in EPOCHS] if isinstance(of, Record) else [of]
        if len(parts) == 1 and isinstance(parts[0], Nat):
            return f"{parts[0].name.lower()} {text}"
        return text

    def _is_of_control(self, change: Change) -> bool:
        """Whether a change is one of leader, epoch or membership, which are nobody's own."""
        last = change.path.rpartition(".")[2]
        return any(
            part.variable == self._index(change) and (not part.path or part.name == last)
            for role, part in self._roles.whole.items()
            if role != "acknowledged"
        )

    def _index(self, change: Change) -> int:
        return self._trace.model.variables.index(change.place.variable)

    def _received(self, step: Step, actors: list[str]) -> Iterator[Arrow]:
        """Messages that a step takes up, from who sent them."""
        action = self._actions[step.action]
        given = [(p.type, v) for p, v in zip(action.params, step.args, strict=True)]
        given += [(choice.type, choice.value) for choice in step.choices]
        for of, value in given:
            for index, variable in enumerate(self._trace.model.variables):
                if variable.network is None or not _may_hold(variable.type, of):
                    continue
                sender = self._sent.get((index, value))
                if sender is not None and actors and sender != actors[0]:
                    yield Arrow(sender, actors[0], self._brief(of, value), Mark.MESSAGE)

    def _posted(self, sender: str, step: Step, found: tuple[Change, ...]) -> Iterator[tuple[str, str]]:
        """What a step puts into a network, or a fault takes out, as words beside a lane."""
        is_fault = self._actions[step.action].kind is Kind.FAULT
        for change in found:
            if change.place.variable.network is None or not isinstance(change.how, Exchanged | Spliced):
                continue
            of = change.type.of if isinstance(change.type, Set | Bag | Seq) else change.type
            to = change.path.partition("[")[2].rstrip("]")
            for message in dict.fromkeys(change.how.added):
                text = self._brief(of, message)
                if is_fault:
                    yield (to if to in self._sort_of else sender), f"{text} once more"
                else:
                    self._sent[self._index(change), message] = sender
                    yield sender, f"→ {to}: {text}" if to in self._sort_of else f"sends {text}"
            if is_fault and isinstance(change.how, Exchanged):
                for message in dict.fromkeys(change.how.removed):
                    yield (to if to in self._sort_of else sender), f"✗ {self._brief(of, message)} is lost"

    def _brief(self, of: Type, value: Value) -> str:
        """A value in a few words: what it is, and as many of its parts as there is room for."""
        text = show(of, value, self._trace.scope)
        if len(text) <= LONG:
            return text
        head, parenthesis, rest = text.partition("(")
        if not parenthesis:
            return text[: LONG - 1] + "…"
        kept = ""
        for part in rest.removesuffix(")").split(", "):
            if len(head) + len(kept) + len(part) + 6 > LONG or part.count("{") != part.count("}"):
                break
            kept += f"{part}, "
        return f"{head}({kept}…)"

    def _answers(
        self, actors: list[str], found: tuple[Change, ...], new: Mapping[str, Standing]
    ) -> Iterator[Arrow]:
        """What a client is told: acknowledged records that were not acknowledged before."""
        acknowledged = self._roles.whole.get("acknowledged")
        for change in found:
            if acknowledged is None or self._index(change) != acknowledged.variable:
                continue
            added = change.how.added if isinstance(change.how, Exchanged | Spliced) else ()
            if added and isinstance(change.type, Set | Bag | Seq):
                told_ = ", ".join(show(change.type.of, value, self._trace.scope) for value in added)
                word = "ack" if acknowledged.name.startswith("ack") else acknowledged.name
                who = next((a for a in actors if new[a].leads), actors[0] if actors else CONTROLLER)
                yield Arrow(who, CLIENT, f"{word} {told_}", Mark.ANSWER)

    # ---------------------------------------------------------- what clients were told

    def _told_values(self, state: State) -> set[Value]:
        """What clients were told is stored."""
        acknowledged = self._roles.whole.get("acknowledged")
        if acknowledged is None:
            return set()
        found = acknowledged.of(state)
        return {value for value, _ in found} if isinstance(acknowledged.type, Bag) else {*found}

    def _told(self, state: State) -> tuple[str, ...]:
        return tuple(self._in_words(self._told_values(state)))

    def _in_words(self, values: set[Value]) -> Iterator[str]:
        acknowledged = self._roles.whole.get("acknowledged")
        if acknowledged is not None:
            of = _element(acknowledged.type)
            yield from (show(of, value, self._trace.scope) for value in ordered(values))

    def _holds(self, of: Type, entry: Value) -> set[Value]:
        """What an entry of a log is, in the type of what clients are told."""
        acknowledged = self._roles.whole.get("acknowledged")
        wanted = None if acknowledged is None else _element(acknowledged.type)
        if of == wanted:
            return {entry}
        if isinstance(of, Record):
            return {value for part, value in zip(of.fields, entry, strict=True) if part.type == wanted}
        return set()

    # --------------------------------------------------------------- what is wrong

    def _named_lanes(self) -> tuple[str, ...]:
        """The replicas for which the property fails."""
        found = [self._lane(each.type, each.value) for failure in self._failures for each in failure.names]
        return tuple(dict.fromkeys(name for name in found if name is not None))

    def _places(self) -> set[int]:
        """The places in logs for which the property fails."""
        return {
            each.value
            for failure in self._failures
            for each in failure.names
            if isinstance(each.value, int) and _sort(each.type) is None and not isinstance(each.value, bool)
        }

    def _lost_records(self) -> list[str]:
        """What was acknowledged, and is not in the log of a replica for which the property fails."""
        state = self._trace.states[-1]
        told = self._told_values(state)
        if not self._broken:
            return []
        held: set[Value] = set()
        for name in self._broken:
            sort, member = self._sort_of[name]
            log = self._roles.field(sort, "log")
            if log is None or not isinstance(log.type, Seq):
                return []
            for entry in log.of(state, member):
                held |= self._holds(log.type.of, entry)
        return [*self._in_words(told - held)]

    def _judged(self, row: Row) -> Row:
        """The last row, with what is wrong marked in it."""
        places = self._places()
        standing = dict(row.standing)
        for name in self._broken:
            log = standing[name].log
            if log is None:
                continue
            boxes = [replace(box, bad=i in places and not self._lost) for i, box in enumerate(log)]
            boxes += [Box(text, missing=True) for text in self._lost]
            standing[name] = replace(standing[name], log=tuple(boxes))
        return replace(row, standing=standing, shown=tuple(self._sort_of), is_last=True)

    def _verdict(self) -> Iterator[str]:
        trace = self._trace
        if trace.property is None:
            return
        prop = trace.model.property(trace.property)
        if isinstance(trace.ending, Example):
            yield f"{trace.property} is reached"
            return
        says = property_says(self._machine, prop, trace.states[-1])
        yield f"{trace.property} is false" + (f": {says}" if says else "")
        for failure in self._failures[:MOST_FAILURES]:
            names = ", ".join(f"{n.name} = {show(n.type, n.value, trace.scope)}" for n in failure.names)
            part = " ".join(trace.model.source.at(failure.span).split())
            yield f"{part} is {'false' if failure.wanted else 'true'}" + (f" for {names}" if names else "")

    def _says(self, number: int) -> str:
        step = self._trace.steps[number]
        return self._machine.says(self._actions[step.action], step, self._trace.states[number])

    def _caption(self, rows: Sequence[Row]) -> str:
        """The story in whole sentences: faults, elections, when what is lost was acknowledged, the end.

        Elections are left out where there are many.
        """
        trace = self._trace
        last = len(trace.steps)
        if not last:
            return ""
        faults = {i for i, step in enumerate(trace.steps, 1) if self._actions[step.action].kind is Kind.FAULT}
        answered = self._answered()
        told_ = []
        turns = {row.number for row in rows if any(arrow.mark is Mark.DECISION for arrow in row.arrows)}
        turns = turns if len({*faults, *answered, *turns}) <= MOST_SENTENCES else set()
        for number in sorted({*faults, *answered, *turns} - {last})[:MOST_SENTENCES]:
            if number in faults or number in turns:
                told_.append(f"In step {number}, {self._says(number - 1)}.")
            if number in answered:
                told_.append(f"In step {number}, {_are('record', answered[number])} acknowledged.")
        told_.append(f"At the end, {self._says(last - 1)}.")
        if self._lost:
            who = " and ".join(self._broken)
            told_.append(f"{_are('Acknowledged record', self._lost)} not in the log of {who}.")
        return " ".join(told_)

    def _answered(self) -> dict[int, list[str]]:
        """The steps in which clients were told of what is lost at the end."""
        found: dict[int, list[str]] = {}
        for record in self._lost:
            number = len(self._trace.steps)
            while number and record in self._told(self._trace.states[number - 1]):
                number -= 1
            found.setdefault(number, []).append(record)
        return found


MOST_STEPS = 300  # drawn without being asked for
EPOCHS = ("epoch", "term", "view", "ballot")
LONG = 40  # characters of a message that are shown
MOST_FAILURES = 3
MOST_SENTENCES = 8


def _are(what: str, names: Sequence[str]) -> str:
    """In words: record 1 is, or records 1, 2 are."""
    return f"{what} {names[0]} is" if len(names) == 1 else f"{what}s {', '.join(names)} are"


def _entry(box: Box) -> str:
    return f"{box.text} ({box.under})" if box.under else box.text


def _may_hold(network: Type, of: Type) -> bool:
    """Whether a network may hold such messages."""
    inner = network.value if isinstance(network, Map) else network
    message = _element(inner)
    return message == of or (isinstance(message, Union) and of in message.cases)


def _without_logs(row: Row) -> Row:
    """A row of a picture in which nothing is ever written, so that empty logs need no room."""
    standing = {n: replace(s, log=None, high_watermark=None) for n, s in row.standing.items()}
    return replace(row, standing=standing)


def _is_forgotten(change: Change, down: set[str]) -> bool:
    """Whether a change is what going down does to whatever is not stored."""
    return change.place.member in down and change.place.variable.storage is Storage.VOLATILE


def _alike(a: Standing, b: Standing) -> bool:
    plain = [tuple(replace(box, fresh=False) for box in s.log or ()) for s in (a, b)]
    return replace(a, log=plain[0]) == replace(b, log=plain[1])


def _sort(of: Type) -> str | None:
    """The sort that a value of a type names, if it names one."""
    if isinstance(of, Option):
        return _sort(of.of)
    return of.name if isinstance(of, Sort) else None


def _element(of: Type) -> Type:
    return of.of if isinstance(of, Set | Bag | Seq) else of
