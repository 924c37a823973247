"""What is wrong at the end of a trace: for which replicas, in which entries, and what was lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from counterexamples.ending import failures, property_says
from counterexamples.lines import one_line
from counterexamples.pictures.cast import Cast
from counterexamples.pictures.entries import element, entries, entry_type
from counterexamples.pictures.picture import Box, PictureRow
from counterexamples.trace import BadAssert, BadState, BadStep, Erred, Example, Stops, Trace
from spec.meaning.blame import Failure
from spec.model.ir import Value
from spec.model.types import Int, Nat, Range
from spec.model.values import ordered, show

MOST_FAILURES = 3  # that are shown


class Judgement:
    """The violation in a trace's last state: `broken` replicas, `lost` records."""

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._trace = cast.trace
        self._failures = failures(cast.trace)
        self.broken = self._named_lanes()
        lost = self._lost_values()
        self.lost = tuple(cast.entries.in_words(lost))
        self._lost = ordered(lost)

    def judged(self, row: PictureRow, changed: Mapping[str, str]) -> PictureRow:
        """The last row with the violation marked; `changed` has what its step changed, as notes say it."""
        places = self._places()
        for name in self.broken:
            row = self._with_claimed(name, row, changed)
        replica = dict(row.replicas)
        for name in self.broken:
            log = replica[name].log
            if log is None:
                continue
            boxes = [replace(box, bad=i in places and not self.lost) for i, box in enumerate(log)]
            replica[name] = replace(replica[name], log=tuple(self._with_lost(name, boxes)))
        return replace(row, replicas=replica, shown=tuple(self._cast.sort_of), is_last=True)

    def _with_claimed(self, name: str, row: PictureRow, changed: Mapping[str, str]) -> PictureRow:
        """The row with what the claim reads of a replica, as a change where the row has a note of that.

        No note or event says that again, and no tie the value alone.
        """
        noted, replica = row.notes.get(name, ()), row.replicas[name]
        found = self._cast.claimed(name, self._trace.states[-1])
        pairs = [(changed.get(f"{name}.{field}"), text) for field, text in found.items()]
        claimed = tuple(note if note is not None and note in noted else text for note, text in pairs)
        ties = tuple(tie for tie in replica.ties if tie in claimed or tie not in found.values())
        return replace(
            row,
            replicas={**row.replicas, name: replace(replica, claimed=claimed, ties=ties)},
            notes=_without(claimed, name, row.notes),
            events=_without(claimed, name, row.events),
        )

    def _with_lost(self, name: str, boxes: list[Box]) -> list[Box]:
        """The boxes of a replica's log, with those of what is lost.

        One that the step took away is marked.  Where entries do not tell whether it is one of them, it is
        not drawn as well: it would be gone and missing.
        """
        known, (sort, member), states = self._cast.entries, self._cast.sort_of[name], self._trace.states
        log, cut = self._cast.roles.field(sort, "log"), [i for i, box in enumerate(boxes) if box.cut]
        if log is None:
            return boxes
        of = entry_type(log.type)
        gone = known.gone(log, states[-1], states[-2], member) if cut else []
        for lost in self._lost:
            same = [i for i, entry in zip(cut, gone, strict=True) if known.may_be(of, entry, lost)]
            if not same:
                boxes.append(replace(known.box_of_acknowledged(lost), missing=True))
            elif known.may_hold(of):
                place = next((i for i in same if not boxes[i].missing), same[0])
                boxes[place] = replace(boxes[place], missing=True)
        return boxes

    def verdict(self) -> Iterator[str]:
        """The violation in lines: the property, then its false parts with members and values."""
        trace = self._trace
        if trace.property is None:
            return
        if isinstance(trace.ending, Example):
            yield f"{trace.property} is reached"
            return
        prop = trace.model.property(trace.property)
        says = property_says(self._cast.machine, prop, trace.states[-1]).rstrip(".")
        yield (f"{_where(trace)}: {says} ({trace.property})" if says else f"{trace.property} is violated")
        for failure in self._failures[:MOST_FAILURES]:
            yield self._part(failure)

    def title(self) -> str:
        """What the run shows of its property, in the model's words; empty if it has none."""
        trace = self._trace
        if trace.property is None or not trace.is_run or isinstance(trace.ending, Erred | Stops):
            return ""
        prop = trace.model.property(trace.property)
        says = property_says(self._cast.machine, prop, trace.states[-1]).rstrip(".")
        return says and f"{'Reached' if isinstance(trace.ending, Example) else 'Not true'}: {says}"

    def _part(self, failure: Failure) -> str:
        """A false part with its members and values, in words."""
        source, scope = self._trace.model.source, self._trace.scope
        whole = one_line(source.at(failure.span))
        names = ", ".join(f"{n.name} = {show(n.type, n.value, scope)}" for n in failure.names)
        parts = {one_line(source.at(o.span)): show(o.type, o.value, scope) for o in failure.operands}
        values = " and ".join(
            f"{text} is {value}" for text, value in parts.items() if text not in {whole, value}
        )
        text = f"{whole} is {'false' if failure.wanted else 'true'}" + (f" for {names}" if names else "")
        return f"{text}: {values}" if values else text

    def answered(self) -> dict[int, list[str]]:
        """For each step the records it acknowledged that are lost at the end."""
        found: dict[int, list[str]] = {}
        for record in self.lost:
            number = len(self._trace.steps)
            while number and record in self._cast.entries.acknowledged(self._trace.states[number - 1]):
                number -= 1
            found.setdefault(number, []).append(record)
        return found

    def _named_lanes(self) -> tuple[str, ...]:
        """The replicas for which the property fails."""
        named = [each for failure in self._failures for each in failure.names]
        found = [self._cast.lane(each.type, each.value) for each in named]
        return tuple(dict.fromkeys(name for name in found if name is not None))

    def _named_values(self) -> set[Value]:
        """The values of the type of what is acknowledged for which the property fails."""
        of = element(self._cast.roles.whole["acknowledged"].type)
        return {each.value for failure in self._failures for each in failure.names if each.type == of}

    def _places(self) -> set[int]:
        """The log indices for which the property fails."""
        named = [each for failure in self._failures for each in failure.names]
        return {each.value for each in named if isinstance(each.type, Nat | Range | Int)}

    def _lost_values(self) -> set[Value]:
        """The acknowledged values missing from a log for which the property fails."""
        state = self._trace.states[-1]
        acknowledged = self._cast.entries.acknowledged_values(state)
        if not (self.broken and acknowledged):
            return set()
        held: set[Value] = set()
        for name in self.broken:
            sort, member = self._cast.sort_of[name]
            log = self._cast.roles.field(sort, "log")
            if log is None:
                return set()
            if not self._cast.entries.may_hold(entry_type(log.type)):
                return acknowledged & self._named_values()
            for _, entry in entries(log.type, log.of(state, member), self._trace.scope):
                held |= self._cast.entries.holds(entry_type(log.type), entry)
        return acknowledged - held


def _where(trace: Trace) -> str:
    """What the property is false of, in words."""
    match trace.ending:
        case BadStep() | BadAssert():
            return "Not true of the last step"
        case BadState():
            return "Not true at the end" if trace.is_run else "True before the last step, not after it"
        case _:
            return "Not true of this run"


def _without(
    texts: tuple[str, ...], lane: str, told: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """The texts by lane, without some of them in one lane."""
    return {each: tuple(t for t in all_ if each != lane or t not in texts) for each, all_ in told.items()}
