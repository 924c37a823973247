"""What pictures say of runs, held against the states: each arrow, each note, each lane.

Whether a step needs a message is asked of all sets of messages there are, and nothing of how pictures
find it out is used.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations

from counterexamples.pictures.depict import picture
from counterexamples.pictures.picture import SHARED, Arrow, ArrowKind, PictureRow
from counterexamples.pictures.roles import Roles, roles
from counterexamples.trace import Stops, Trace
from spec.meaning.semantics import Machine, State, Step, Taken
from spec.model.ir import Value
from spec.model.types import BOOL, Bag, Map, Nat, Option, Record, Seq, Set, Sort, Type, Union
from spec.model.types import Case as UnionCase
from spec.model.values import ModelError, members, show
from tests.fuzz.cases import Case
from tests.fuzz.findings import Differences
from tests.fuzz.of_runs import runs_of

STEPS = 10  # of a random run
MOST = 6  # messages of which all sets are tried
SENT = re.compile(r"(?P<text>.*?)(, sent in (?P<step>\d+))?", re.DOTALL)
TRUTHS = ("by", "from")  # fields of a message that name its sender; pictures do not know the first
DECIDED = (
    "decided"  # one that is true if it is sent by who decides for all, of which they know nothing either
)
USELESS = ", which no step here needs"

Place = tuple[int, tuple[int, ...], Value]  # a message: its network, its channel and what it says


def pictures(case: Case) -> Differences | None:
    """All that is untrue in the pictures of a model's runs."""
    if case.findings is None:  # it cannot start
        return None
    runs = runs_of(case) | {"a random run": random_run(case)}
    wrong = {f"{name}: {each}": (True, False) for name, run in runs.items() for each in untruths(run)}
    return wrong if wrong or any(run.steps for run in runs.values()) else None


def random_run(case: Case) -> Trace:
    """A run of some steps, as they come."""
    machine, random = Machine(case.model, case.asked.scope), case.random("pictures")
    states, taken = [random.choice(machine.initial())], list[Step]()
    while len(taken) < STEPS:
        try:
            able = [each for each in machine.steps(states[-1]) if isinstance(each, Taken)]
        except ModelError:
            break
        if not able:
            break
        chosen = random.choice(able)
        states.append(chosen.state)
        taken.append(chosen.step)
    return Trace(case.model, case.asked.scope, tuple(states), tuple(taken), Stops(), None, case.asked.name)


def untruths(run: Trace) -> list[str]:
    """What is untrue in the picture of a run, in words."""
    return [*_Witness(run).untruths()]


@dataclass
class _Channel:
    """What is in a channel, with the type of it, and the members that it belongs to."""

    of: Type
    keys: tuple[str, ...]
    counts: Counter[Value]


class _Witness:
    """Someone who has seen the run, and looks at the picture of it."""

    def __init__(self, run: Trace) -> None:
        self.run = run
        self.model, self.scope = run.model, run.scope
        self.machine = Machine(run.model, run.scope)
        self.actions = {action.name: action for action in run.model.actions}
        self.roles: Roles = roles(run.model)
        self.words = {word.replace("_", " ") for word in self.roles.words.values()}
        self.members = {
            name: (sort, ordinal)
            for sort in self.roles.sorts
            for ordinal, name in enumerate(run.scope.sorts[sort])
        }
        self.known: dict[tuple[int, Place], bool] = {}

    def untruths(self) -> Iterator[str]:
        """All that is untrue."""
        drawn = picture(self.run)
        if not {*drawn.lanes} <= {*self.members, SHARED, *self.words}:
            yield f"somebody is invented: {drawn.lanes}"
        for row in drawn.rows:
            if row.number and not row.skipped:
                yield from (f"step {row.number}: {each}" for each in self.of_row(row))

    def of_row(self, row: PictureRow) -> Iterator[str]:
        """What is untrue of a step."""
        step = self.run.steps[row.number - 1]
        before = self.run.states[row.number - 1]
        action = self.actions[step.action]
        if row.sentence != self.machine.says(action, step, before) or row.kind is not action.kind:
            yield f"the sentence {row.sentence}"
        for arrow in row.arrows:
            if not self.is_true(arrow, row.number):
                yield f"the arrow {arrow}"
        for lane, texts in row.notes.items():
            wrong = (each for each in texts if not self.is_noted(each, lane, row.number))
            yield from (f"the note {each} at {lane}" for each in wrong)
        for lane, texts in row.events.items():
            wrong = (each for each in texts if not self.has_happened(each, lane, row.number))
            yield from (f"the event {each} at {lane}" for each in wrong)
        yield from self.of_state(row)

    def of_state(self, row: PictureRow) -> Iterator[str]:
        """What is untrue of the state after a step, and of how it came to be."""
        before, after = self.run.states[row.number - 1 : row.number + 1]
        for text in row.under_way:
            if not self.is_under_way(text, row.number):
                yield f"the message under way {text}"
        for name, stands in row.replicas.items():
            sort, member = self.members[name]
            up, log = (self.roles.field(sort, role) for role in ("up", "log"))
            if stands.up != (up is None or bool(up.of(after, member))):
                yield f"{name} is up: {stands.up}"
            if log is not None and isinstance(log.type, Seq) and stands.log is not None:
                there = [box for box in stands.log if not (box.cut or box.missing)]
                was, now = (log.of(state, member) for state in (before, after))
                gone = sum(now[i : i + 1] != was[i : i + 1] for i in range(len(was)))
                if len(there) != len(now) or sum(box.cut for box in stands.log) != gone:
                    yield f"the log of {name}: {stands.log}"
        told = self.roles.whole.get("acknowledged")
        if told is not None and isinstance(told.type, Set):
            of = told.type.of
            is_shortened = isinstance(of, Record | Nat)  # to what is in the boxes
            values = {show(of, value, self.scope) for value in told.of(after)}
            if len({*row.acknowledged}) > len(values) or not (is_shortened or {*row.acknowledged} == values):
                yield f"what is acknowledged: {row.acknowledged}"

    # ------------------------------------------------------------------ arrows

    def is_true(self, arrow: Arrow, number: int) -> bool:
        """Whether an arrow is true of a step."""
        if arrow.mark is ArrowKind.MESSAGE:
            return self.is_needed_message(arrow, number)
        if arrow.mark is ArrowKind.COPY:
            return self.is_copied(arrow, number)
        if arrow.mark is ArrowKind.CALL:
            return self.takes_part(arrow.start, number) and self.takes_part(arrow.end, number)
        return arrow.start in self.words or arrow.end in self.words

    def is_needed_message(self, arrow: Arrow, number: int) -> bool:
        """Whether some message with that text was sent then, was there since, and is needed now."""
        found = SENT.fullmatch(arrow.text)
        assert found is not None
        sent = int(found["step"]) if found["step"] else number - 1
        if not (
            0 < sent < number and (self.takes_part(arrow.end, number) or arrow.end == self.first_of(number))
        ):
            return False
        if self.actions[self.run.steps[sent - 1].action].is_fault:
            return False
        return any(
            self.count(sent, place) > self.count(sent - 1, place)
            and self.is_from(arrow.start, sent, place)
            and all(self.count(each, place) for each in range(sent, number))
            and self.is_needed(number, place)
            for place in self.places(number - 1, found["text"])
        )

    def is_from(self, lane: str, number: int, place: Place) -> bool:
        """Whether a lane may be said to have put a message there in a step.

        Who is named in the message as its sender has; so has who is named in the step's sentence first, and
        nobody else, but for the other end of a channel that bears one or two names.  It is no untruth to
        name nobody.
        """
        channel = self.channel(number, place)
        of = channel.of.cases[place[2][0]] if isinstance(channel.of, Union) else channel.of
        parts = place[2][1:] if isinstance(of, UnionCase) else place[2]
        if isinstance(of, Record | UnionCase):
            said = {f.name: (f.type, value) for f, value in zip(of.fields, parts, strict=True)}
            named_there = next((self.member(*said[name]) for name in TRUTHS if name in said), None)
            if said.get(DECIDED, (None, False))[1]:
                return lane in {SHARED, self.roles.words["controller"].replace("_", " ")}
            if named_there is not None:
                return lane in {SHARED, named_there} and self.may_be_from(lane, number)
        first, named = self.first_of(number), [key for key in channel.keys if key in self.members]
        if first is None and lane in self.members and self.actions[self.run.steps[number - 1].action].says:
            return self.takes_part(lane, number) and self.is_told_to_act(lane, number, place)
        if first is None or lane in {first, SHARED}:
            return self.may_be_from(lane, number)
        return self.takes_part(lane, number) and (named == [first] or (len(named) == 2 and lane in named))

    def is_told_to_act(self, lane: str, number: int, place: Place) -> bool:
        """Whether anything but a step's sentence tells that a member acts in it and is not only acted on.

        That is that the step changes its state, that it is one of two ends of the channel, or that others
        take up what is in the channels of the network.
        """
        before, after = self.run.states[number - 1 : number + 1]
        sort, member = self.members[lane]
        is_changed = any(
            variable.owner == sort and was[member] != now[member]
            for variable, was, now in zip(self.model.variables, before, after, strict=True)
        )
        named = [key for key in self.channel(number, place).keys if key in self.members]
        return is_changed or (len(named) == 2 and lane in named) or self.is_read_by_others(place[0])

    def is_read_by_others(self, network: int) -> bool:
        """Whether someone takes up a message from a channel of a network that belongs to another alone."""
        return any(
            ends
            and {*ends}.isdisjoint(actors := [*self.named(number), *filter(None, [self.first_of(number)])])
            and actors
            and self.is_needed(number, (*at, value))
            for number in range(1, len(self.run.steps) + 1)
            for at, each in self.channels(number - 1).items()
            if at[0] == network and len(ends := [key for key in each.keys if key in self.members]) == 1
            for value in each.counts
        )

    def may_be_from(self, lane: str, number: int) -> bool:
        """Whether a step names a member, or the lane is of no member."""
        return lane not in self.members or self.takes_part(lane, number)

    def first_of(self, number: int) -> str | None:
        """The member or the one who decides that the sentence for a step begins with; None if another."""
        action = self.actions[self.run.steps[number - 1].action]
        if not action.says:
            return None
        said = self.machine.says(action, self.run.steps[number - 1], self.run.states[number - 1])
        names = self.members if action.says[0] and not isinstance(action.says[0], str) else ()
        word = self.roles.words.get("controller", "").replace("_", " ")
        if word and said.lower().startswith((f"the {word.lower()} ", f"{word.lower()} ")):
            return word
        return next((name for name in names if said == name or said.startswith(f"{name} ")), None)

    def is_copied(self, arrow: Arrow, number: int) -> bool:
        """Whether the one had in its log what is new in that of the other."""
        before, after = self.run.states[number - 1 : number + 1]
        (giver, first), (taker, second) = self.members[arrow.start], self.members[arrow.end]
        one, other = self.roles.field(giver, "log"), self.roles.field(taker, "log")
        if one is None or other is None:
            return False
        old, new = other.of(before, second), other.of(after, second)
        if isinstance(new, frozenset):  # a set; of a bag, each with how often it is there
            fresh, held = new - old, one.of(before, first)
            if isinstance(other.type, Bag):
                fresh, held = ({each for each, _ in some} for some in (fresh, held))
            return bool(fresh) and fresh <= held
        same = 0
        while same < min(len(old), len(new)) and old[same] == new[same]:
            same += 1
        return len(new) > same and {*new[same:]} <= {*one.of(before, first)}

    def given(self, number: int) -> list[tuple[Type, Value]]:
        """The parameters and choices of a step."""
        step = self.run.steps[number - 1]
        action = self.actions[step.action]
        given = [(p.type, v) for p, v in zip(action.params, step.args, strict=True)]
        return given + [(choice.type, choice.value) for choice in step.choices]

    def named(self, number: int) -> set[str]:
        """The members that a step names, themselves and not in a set."""
        return {name for of, value in self.given(number) if (name := self.member(of, value))}

    def takes_part(self, lane: str, number: int) -> bool:
        """Whether a step names a member, itself or in a set; or nobody itself, if the lane is of nobody."""
        given, named = self.given(number), self.named(number)
        if lane not in self.members:
            return not named
        sets = [(of.of, value) for of, value in given if isinstance(of, Set)]
        return lane in named or any(lane == self.member(of, each) for of, value in sets for each in value)

    def member(self, of: Type, value: Value) -> str | None:
        """The member that a value is."""
        if isinstance(of, Option):
            return self.member(of.of, value)
        is_member = isinstance(of, Sort) and value is not None and of.name in self.roles.sorts
        return self.scope.sorts[of.name][value] if is_member and isinstance(of, Sort) else None

    # --------------------------------------------------------------- notes, events

    def is_noted(self, note: str, lane: str, number: int) -> bool:
        """Whether a note is true of a step, and of who has it."""
        before, after = self.run.states[number - 1 : number + 1]
        is_fault = self.actions[self.run.steps[number - 1].action].is_fault
        useless, text = note.endswith(USELESS), note.removesuffix(USELESS)
        if sent := re.fullmatch(r"(?:sends|→ (?P<to>[^:]+):) (?P<text>.*)", text, re.DOTALL):
            places = [
                place
                for place in self.places(number, sent["text"])
                if self.count(number, place) > self.count(number - 1, place)
                and self.is_from(lane, number, place)
                and (sent["to"] is None or sent["to"] in self.channel(number, place).keys)
            ]
            later = range(number + 1, len(self.run.steps) + 1)
            steps = [n for n in later if not self.actions[self.run.steps[n - 1].action].is_fault]
            return not is_fault and any(
                not useless or not any(self.is_needed(n, place) for n in steps) for place in places
            )
        was, arrow, now = note.partition(" → ")
        first = was.partition(" ")[2]
        if arrow:
            return self.shows(before, first) and self.shows(after, now)
        return self.shows(after, first) or "acknowledged" in self.roles.whole

    def shows(self, state: State, text: str) -> bool:
        """Whether a text is in some value of a state."""
        values = zip(self.model.variables, state, strict=True)
        return any(text in show(variable.type, value, self.scope) for variable, value in values)

    def has_happened(self, event: str, lane: str, number: int) -> bool:
        """Whether an event is true of a member in a step."""
        before, after = self.run.states[number - 1 : number + 1]
        for sign, has in ((r"✗ (?P<text>.*) is gone", -1), (r"(?P<text>.*) (once more|is there now)", 1)):
            if found := re.fullmatch(sign, event, re.DOTALL):
                places = {*self.places(number - 1, found["text"]), *self.places(number, found["text"])}
                return any((self.count(number, p) - self.count(number - 1, p)) * has > 0 for p in places)
        sort, member = self.members.get(lane, ("", 0))
        membership = self.roles.whole.get("membership")
        if event.startswith(("joins ", "leaves ")) and membership is not None:
            was, now = (member in membership.of(state) for state in (before, after))
            return (was, now) == ((False, True) if event.startswith("joins ") else (True, False))
        up, log = self.roles.field(sort, "up"), self.roles.field(sort, "log")
        if event == "keeps its log" or event.startswith("loses "):
            if up is None or log is None or up.of(after, member):
                return False
            was, now = (log.of(state, member) for state in (before, after))
            is_kept = was <= now if isinstance(was, frozenset) else now[: len(was)] == was
            return bool(was) and is_kept == (event == "keeps its log")
        if event.endswith(" while it is down"):
            is_up = up is None or up.of(before, member) or up.of(after, member)
            return not is_up and lane == self.first_of(number) and before != after
        if event == "comes up":
            return up is not None and not up.of(before, member) and bool(up.of(after, member))
        if event == "stops leading":
            leads = self.roles.field(sort, "leads")
            return leads is not None and bool(leads.of(before, member)) and not leads.of(after, member)
        if event.endswith((": yes", ": no")):
            return any(
                variable.owner == sort
                and isinstance(variable.type, Map)
                and variable.type.value == BOOL
                and was[member] != now[member] == event.endswith(": yes")
                for variable, was, now in zip(self.run.model.variables, before, after, strict=True)
            )
        return not event.startswith(("joins", "leaves"))

    # ------------------------------------------------------------------ messages

    def is_under_way(self, text: str, number: int) -> bool:
        """Whether a message is there after a step, was sent by who is said to, and a later step needs it.

        Of one that is there from the start it is not said who sent it.
        """
        ends, _, said = text.partition(": ") if ": " in text.partition("(")[0] else ("", "", text)
        sender = ends.partition("→")[0].strip()
        return any(
            any(self.is_needed(later, place) for later in range(number + 1, len(self.run.steps) + 1))
            and any(
                (self.count(sent, place) > self.count(sent - 1, place) if sent else self.count(0, place))
                and (
                    not sender
                    or (sent and self.is_from(sender, sent, place))
                    or sender in self.channel(sent, place).keys
                )
                for sent in range(number + 1)
            )
            for place in self.places(number, said)
        )

    def channels(self, number: int) -> dict[tuple[int, tuple[int, ...]], _Channel]:
        """The channels of all networks after a step."""
        found: dict[tuple[int, tuple[int, ...]], _Channel] = {}

        def look(index: int, place: tuple[int, ...], keys: tuple[str, ...], of: Type, value: Value) -> None:
            if isinstance(of, Map):
                for at, key in enumerate(members(of.key, self.scope)):
                    look(index, (*place, at), (*keys, show(of.key, key, self.scope)), of.value, value[at])
            elif isinstance(of, Bag):
                found[index, place] = _Channel(of.of, keys, Counter(dict(value)))
            elif isinstance(of, Set | Seq):
                found[index, place] = _Channel(of.of, keys, Counter(value))

        for index, (variable, value) in enumerate(
            zip(self.model.variables, self.run.states[number], strict=True)
        ):
            if variable.network is not None:
                look(index, (), (), variable.type, value)
        return found

    def channel(self, number: int, place: Place) -> _Channel:
        """The channel of a message."""
        return self.channels(number)[place[0], place[1]]

    def count(self, number: int, place: Place) -> int:
        """How many copies of a message are under way after a step."""
        return self.channel(number, place).counts[place[2]]

    def places(self, number: int, text: str) -> list[Place]:
        """The messages under way after a step that may be shown by a text, which may be shortened."""
        start, cut, _ = text.partition("…")
        shown = [
            ((*at, value), self.message(at[0], each.of, value))
            for at, each in self.channels(number).items()
            for value in each.counts
        ]
        return [
            (index, place, value)
            for (index, place, value), said in shown
            if said == text or (cut and said.startswith(start.partition("(")[0]))
        ]

    def message(self, network: int, of: Type, value: Value) -> str:
        """A message in words, as pictures have to say it: a bare value is one of its network."""
        text = show(of, value, self.scope)
        is_named = isinstance(of, Record | UnionCase | Union)
        return text if is_named else f"{self.model.variables[network].name} {text}"

    def is_needed(self, number: int, place: Place) -> bool:
        """Whether there are messages with which a step is possible and the same, but not without this one."""
        if (number, place) not in self.known:
            others = [
                (*at, value)
                for at, each in self.channels(number - 1).items()
                for value in each.counts
                if (*at, value) != place
            ][:MOST]
            sets = chain.from_iterable(combinations(others, size) for size in range(len(others) + 1))
            self.known[number, place] = any(
                self.goes_without(number, gone) and not self.goes_without(number, (*gone, place))
                for gone in sets
            )
        return self.known[number, place]

    def goes_without(self, number: int, gone: tuple[Place, ...]) -> bool:
        """Whether a step is possible without some messages, and does the same."""
        step = self.run.steps[number - 1]
        before, after = (self.less(self.run.states[n], gone) for n in (number - 1, number))
        try:
            return any(
                isinstance(each, Taken) and each.step == step and self.less(each.state, gone) == after
                for each in self.machine.steps(before, actions={step.action})
            )
        except ModelError:
            return False

    def less(self, state: State, gone: tuple[Place, ...]) -> State:
        """A state without some messages."""

        def taken(of: Type, value: Value, place: tuple[int, ...], message: Value) -> Value:
            if isinstance(of, Map):
                inner = [*value]
                inner[place[0]] = taken(of.value, value[place[0]], place[1:], message)
                return tuple(inner)
            if isinstance(of, Bag):
                return frozenset((each, many) for each, many in value if each != message)
            return type(value)(each for each in value if each != message)

        now = [*state]
        for index, place, message in gone:
            now[index] = taken(self.model.variables[index].type, now[index], place, message)
        return tuple(now)
