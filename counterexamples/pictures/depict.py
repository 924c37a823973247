"""A trace as a picture.

It is made from the trace alone: the model's sentences, the parts of its state
that play a role (see `roles`), and what each step changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from counterexamples.diff import Change, Exchanged, Spliced, changes
from counterexamples.explanation import Explanation
from counterexamples.lines import plain
from counterexamples.pictures.arrows import Arrows
from counterexamples.pictures.cast import Cast, is_nothing, read_by_claim
from counterexamples.pictures.judgement import Judgement
from counterexamples.pictures.picture import SHARED, Picture, PictureRow, ReplicaState
from counterexamples.pictures.selection import ALL, Selection
from counterexamples.text import bounds, said_by_check, start_words
from counterexamples.trace import Example, Lasso, Stops, Trace
from spec.model.ir import Kind, Storage
from spec.model.types import Option
from spec.model.values import show

MOST_STEPS = 300  # drawn without being asked for
MOST_SENTENCES = 8  # of a caption


def picture(
    trace: Trace,
    part: range | None = None,
    explanation: Explanation | None = None,
    selection: Selection = ALL,
) -> Picture:
    """The picture of a trace, or of its steps in `part`, counted from 1, with the parts and members chosen.

    Costs a comparison of two states for each step.  With no part given, the middle
    of a trace of more than some hundred steps is left out, faults and all.  With an
    explanation, steps that are not needed are marked, and the point of no return.
    """
    made = _Drawing(trace, selection).picture(part)
    return made if explanation is None else _explained(made, explanation)


def _explained(made: Picture, why: Explanation) -> Picture:
    """The picture with the marks from an explanation."""
    is_needed = why.core.numbers
    rows = tuple(
        replace(row, is_needed=row.skipped > 0 or row.number == 0 or row.number in is_needed)
        for row in made.rows
    )
    turn = None if why.no_return is None else why.no_return.state
    return replace(made, rows=rows, needs=why.needs_by_key, no_return=turn)


class _Drawing:
    """Makes one picture."""

    def __init__(self, trace: Trace, selection: Selection) -> None:
        self._trace = trace
        self._cast = Cast(trace, selection)
        self._arrows = Arrows(self._cast)
        self._judgement = Judgement(self._cast)
        self._recorded = _recorded(trace)

    def picture(self, part: range | None) -> Picture:
        """The whole picture, or the part asked for."""
        trace = self._trace
        rows = [*self._rows(part)]
        if rows[-1].number == len(trace.steps):
            rows[-1] = self._judgement.judged(rows[-1], self._changed_last())
        if not any(replica.log for row in rows for replica in row.replicas.values()):
            rows = [_without_logs(row) for row in rows]
        used = {name for row in rows for arrow in row.arrows for name in (arrow.start, arrow.end)}
        used |= {name for row in rows for name in (*row.notes, *row.events)}
        used |= {self._cast.common for row in rows if row.control}
        lanes = [
            name for name in dict.fromkeys((self._cast.client, self._cast.common, SHARED)) if name in used
        ]
        replicas = [*self._cast.replicas]
        lanes[len(lanes) and 1 :] = [*lanes[len(lanes) and 1 :], *replicas]
        loop = trace.ending.loop if isinstance(trace.ending, Lasso) else None
        title, shows = said_by_check(trace) or self._judgement.title(), trace.headline()
        return Picture(
            title or shows,
            plain(bounds(trace, 10_000, by_key=True)).strip(),
            self._caption(rows),
            tuple(lanes),
            tuple(replicas),
            tuple(rows),
            tuple(self._judgement.verdict()),
            not isinstance(trace.ending, Example | Stops),
            self._judgement.broken,
            self._judgement.lost,
            self._cast.entries.record,
            self._cast.membership,
            self._cast.common,
            self._cast.client,
            self._cast.told,
            loop,
            claim=shows if title else "",
            entries=tuple(f"{short}: {text}" for text, short in self._cast.entries.short.items()),
        )

    # --------------------------------------------------------------------- rows

    def _rows(self, part: range | None) -> Iterator[PictureRow]:
        """The rows drawn, with one for each gap between them."""
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

    def _gap(self, first: int, last: int) -> PictureRow:
        """The row for steps that are not drawn, with the state after them."""
        state = self._trace.states[last]
        replicas = {name: self._cast.replica_state(name, state, None) for name in self._cast.replicas}
        first = max(first, 1)
        text = f"steps {first} to {last} are not drawn" if last > first else f"step {last} is not drawn"
        text = text if last else "the start is not drawn"
        names = self._cast.replicas
        acknowledged, steps = self._cast.entries.acknowledged(state), last - first + 1
        return PictureRow(
            last,
            Kind.ACTION,
            "",
            text,
            (),
            names,
            replicas,
            acknowledged=acknowledged,
            skipped=steps,
            about=self._cast.about(last),
        )

    def _start(self) -> PictureRow:
        """The row of the initial state."""
        state = self._trace.states[0]
        names = self._cast.replicas
        replicas = {name: self._cast.replica_state(name, state, None) for name in names}
        acked, control = self._cast.entries.acknowledged(state), self._cast.control(state)
        return PictureRow(
            0,
            Kind.ACTION,
            "",
            start_words(self._trace),
            (),
            names,
            replicas,
            acknowledged=acked,
            control=control,
            about=self._cast.about(0),
        )

    def _row(self, number: int) -> PictureRow:
        """The row of a step."""
        trace = self._trace
        step, before, after = trace.steps[number - 1], *trace.states[number - 1 : number + 1]
        action = self._cast.actions[step.action]
        found = changes(trace.model, trace.scope, before, after)
        old = {name: self._cast.replica_state(name, before, None) for name in self._cast.replicas}
        new = {name: self._cast.replica_state(name, after, before) for name in self._cast.replicas}
        actors = self._cast.actors(number)
        arrows = tuple(self._arrows.of_step(number, step, actors, found, old, new))
        touched = {name for name in old if not _alike(old[name], new[name])} | {*actors}
        touched |= {change.place.member for change in found if change.place.member is not None}
        touched |= {name for arrow in arrows for name in (arrow.start, arrow.end)}
        is_decided = any(arrow.start == self._cast.controller for arrow in arrows)
        sender = actors[0] if actors and not is_decided else self._cast.common
        posted = [*self._arrows.posted(number, found)]
        is_repair = action.kind is Kind.REPAIR
        events = [
            (name, event) for name in old for event in self._events(old[name], new[name], is_repair=is_repair)
        ]
        down = {name for name in old if old[name].up and not new[name].up}
        events.extend(self._set_back(number, found, down))
        events.extend(self._forgotten(found, down))
        events.extend(self._while_down(number, found, old, new, posted))
        notes = [*self._notes(found, down, sender), *self._arrows.told(actors, found, new)]
        (events if action.is_fault else notes).extend(posted)
        return PictureRow(
            number,
            action.kind,
            self._cast.machine.name(step),
            self._cast.machine.says(action, step, before),
            arrows,
            tuple(name for name in self._cast.replicas if name in touched),
            new,
            _by_lane(events),
            _by_lane(notes),
            self._cast.entries.acknowledged(after),
            self._cast.control(after) if self._cast.control(before) != self._cast.control(after) else (),
            under_way=self._arrows.under_way(number),
            about=self._cast.about(number),
            is_recorded=any(change.place.variable.name in self._recorded for change in found),
        )

    def _notes(self, found: tuple[Change, ...], down: set[str], who: str) -> Iterator[tuple[str, str]]:
        """The changes by a step that nothing else shows, as notes by lane.

        What no replica owns is next to who decides it, or else next to the replica that changed it.
        """
        common = self._cast.controller or who
        for change in found:
            if self._is_shown(change) and not (self._is_drawn(change) or _is_forgotten(change, down)):
                yield change.place.member or common, self._note(change)

    def _set_back(self, number: int, found: tuple[Change, ...], down: set[str]) -> Iterator[tuple[str, str]]:
        """The Boolean fields that are again as at the start, of which a replica's state says nothing."""
        for change in found:
            who = change.place.member
            if who is not None and who in self._cast.sort_of and not _is_forgotten(change, down):
                index = self._trace.model.variables.index(change.place.variable)
                if text := self._cast.set_back(number, index, who):
                    yield who, text

    def _while_down(
        self,
        number: int,
        found: tuple[Change, ...],
        old: dict[str, ReplicaState],
        new: dict[str, ReplicaState],
        posted: Sequence[tuple[str, str]],
    ) -> Iterator[tuple[str, str]]:
        """What a replica does in a step whose sentence begins with it, though it is down."""
        who = self._cast.subject(number)
        is_action = self._cast.actions[self._trace.steps[number - 1].action].kind is Kind.ACTION
        if who not in new or not is_action or old[who].up or new[who].up:
            return
        if any(lane == who for lane, _ in posted):
            yield who, "sends while it is down"
        elif any(change.place.member == who and not change.place.variable.ghost for change in found):
            yield who, "changes while it is down"

    def _forgotten(self, found: tuple[Change, ...], down: set[str]) -> Iterator[tuple[str, str]]:
        """The volatile promises and votes that a replica lost when it went down, as notes.

        So are the collections that the claim reads.
        """
        for change in found:
            is_vote = isinstance(change.type, Option) and change.after is None
            if (
                change.place.member is not None
                and _is_forgotten(change, down)
                and (is_vote or (is_nothing(change.after) and self._is_claimed(change)))
                and self._is_shown(change)
                and not self._is_drawn(change)
            ):
                name = change.path.removeprefix(f"{change.place.member}.")
                was = show(change.type, change.before, self._trace.scope)
                yield change.place.member, f"forgets {name} {was}"

    def _events(self, old: ReplicaState, new: ReplicaState, *, is_repair: bool) -> tuple[str, ...]:
        """What happened to a replica's membership, and to its log when it went down, in words.

        And that it is up again, or leads no longer, for which its state has no word.
        """
        found = []
        if new.up and not old.up and not is_repair:  # which says so itself
            found.append("comes up")
        has_own = self._cast.roles.field(new.sort, "leads") is not None  # else it may not know
        if has_own and old.leads and new.up and not (new.leads or new.chosen or new.follows):
            found.append("stops leading")
        if old.member != new.member and self._cast.membership:
            found.append(f"{'joins' if new.member else 'leaves'} {self._cast.membership}")
        if old.up and not new.up and old.log:
            lost = [box.text for box in new.log or () if box.cut]
            found.append(f"loses {self._cast.entries.record}{', '.join(lost)}" if lost else "keeps its log")
        return tuple(found)

    def _is_shown(self, change: Change) -> bool:
        """Whether a change is of a part and a member that are to be shown."""
        return self._cast.selection.has_place(self._trace.model, change.place, change.path)

    def _is_drawn(self, change: Change) -> bool:
        """Whether a change is visible in boxes, bars and marks."""
        variable = change.place.variable
        index = self._trace.model.variables.index(variable)
        return variable.network is not None or self._cast.is_drawn(index, change.path.rpartition(".")[2])

    def _is_claimed(self, change: Change) -> bool:
        """Whether the claim reads the variable of a change."""
        return self._trace.model.variables.index(change.place.variable) in read_by_claim(self._trace)

    def _changed_last(self) -> dict[str, str]:
        """The changes by the last step in the words of notes, by what changed."""
        trace = self._trace
        if not trace.steps:
            return {}
        return {each.path: self._note(each) for each in changes(trace.model, trace.scope, *trace.states[-2:])}

    def _note(self, change: Change) -> str:
        """A change in words."""
        scope = self._trace.scope
        place = change.path.removeprefix(f"{change.place.member}.")
        match change.how:
            case Exchanged() | Spliced():
                return f"{place} {show(change.type, change.after, scope)}"
            case _:
                before, after = (show(change.type, v, scope) for v in (change.before, change.after))
                return f"{place} {before} → {after}"

    # ------------------------------------------------------------------ the caption

    def _caption(self, rows: Sequence[PictureRow]) -> str:
        """The story in sentences: faults, elections, acknowledgements lost later, the end.

        Elections are left out where there are many.
        """
        trace = self._trace
        last = len(trace.steps)
        if not last or not trace.is_run:
            return ""
        kinds = [self._cast.actions[step.action].kind for step in trace.steps]
        faults = {number for number, kind in enumerate(kinds, 1) if kind is Kind.FAULT}
        answered = self._judgement.answered()
        sentences = []
        turns = {row.number for row in rows if row.control and row.number}
        turns = turns if len({*faults, *answered, *turns}) <= MOST_SENTENCES else set()
        for number in sorted({*faults, *answered, *turns} - {last})[:MOST_SENTENCES]:
            if number in faults or number in turns:
                sentences.append(f"In step {number}, {self._cast.says(number)}.")
            if number in answered:
                they_are = _are(self._cast.entries.record, answered[number])
                sentences.append(f"In step {number}, {they_are} {self._cast.told}.")
        sentences.append(f"At the end, {self._cast.says(last)}.")
        if self._judgement.lost:
            who = " and ".join(self._judgement.broken)
            lost = _are(self._cast.entries.record, self._judgement.lost)
            sentences.append(f"{self._cast.told.capitalize()} {lost} missing from the log of {who}.")
        return " ".join(sentences)


def _are(what: str, names: Sequence[str]) -> str:
    """Names with a verb: "record 1 is", "records 1, 2 are", "v1 is"."""
    if len(names) == 1:
        return f"{what}{names[0]} is"
    return f"{what.rstrip()}{'s ' if what else ''}{', '.join(names)} are"


def _without_logs(row: PictureRow) -> PictureRow:
    """The row without logs, for a picture in which nothing is written."""
    replicas = {n: replace(s, log=None, high_watermark=None) for n, s in row.replicas.items()}
    return replace(row, replicas=replicas)


def _is_forgotten(change: Change, down: set[str]) -> bool:
    """Whether a change is only the loss of volatile state by going down."""
    return change.place.member in down and change.place.variable.storage is Storage.VOLATILE


def _recorded(trace: Trace) -> set[str]:
    """The ghost variables that the trace's property reads."""
    variables = trace.model.variables
    return {variables[index].name for index in read_by_claim(trace) if variables[index].ghost}


def _alike(a: ReplicaState, b: ReplicaState) -> bool:
    """Whether two replica states are drawn the same."""
    plain = [tuple(replace(box, fresh=False) if box.fresh else box for box in s.log or ()) for s in (a, b)]
    return replace(a, log=plain[0], ties=()) == replace(b, log=plain[1], ties=())


def _by_lane(texts: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """The notes grouped by lane."""
    found: dict[str, tuple[str, ...]] = {}
    for lane, text in texts:
        found[lane] = (*found.get(lane, ()), text)
    return found
