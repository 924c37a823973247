"""Who plays in a trace: its replicas, the state of each, and what was acknowledged."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property

from counterexamples.messages import Channel
from counterexamples.pictures.entries import EPOCHS, LogEntries, element, last_word
from counterexamples.pictures.picture import SHARED, ReplicaState
from counterexamples.pictures.roles import NamedPart, leads, roles
from counterexamples.pictures.selection import ALL, Selection
from counterexamples.trace import Trace
from spec.meaning.semantics import Machine, State, Step
from spec.model.ir import Assert, Storage, Value
from spec.model.roles import CLIENT, CONTROLLER, SET
from spec.model.types import BOOL, Map, Option, Seq, Set, Sort, Type
from spec.model.values import ordered, show
from spec.model.walk import variables_in, walk_statements

SEEN = (
    "log",
    "high_watermark",
    "flushed",
    "up",
    "epoch",
    "leads",
)  # roles of fields that `ReplicaState` shows
DECIDED = ("leader", "epoch", "membership")  # roles of what is decided for all


class Cast:
    """The replicas of a trace, each with a lane, and the state variables with a role in pictures."""

    def __init__(self, trace: Trace, selection: Selection = ALL) -> None:
        self.trace = trace
        self.selection = selection
        self.machine = Machine(trace.model, trace.scope)
        self.actions = {action.name: action for action in trace.model.actions}
        self.roles = selection.of_roles(roles(trace.model), trace.model.variables)
        self._lane_of = {
            (sort, ordinal): name
            for sort in self.roles.sorts
            for ordinal, name in enumerate(trace.scope.sorts[sort])
            if selection.has_member(name)
        }
        self.sort_of = {name: key for key, name in self._lane_of.items()}
        self._switches = tuple(self._found_switches())
        self._ties = tuple(self._found_ties())
        self._read = tuple(self._found_read())
        self.entries = LogEntries(trace.scope, self.roles)

    @property
    def replicas(self) -> tuple[str, ...]:
        """The names of all replicas, in the order of lanes."""
        return tuple(self.sort_of)

    @property
    def membership(self) -> str:
        """The word for the set that replicas join and leave, such as ISR."""
        part, word = self.roles.whole.get("membership"), self._word(SET)
        if part is None:
            return ""
        return f"the {word}" if word else part.name

    @property
    def controller(self) -> str:
        """Who decides what no replica owns; empty if the model names no one."""
        return self._word(CONTROLLER)

    @property
    def client(self) -> str:
        """Who sends records and gets acknowledgements; empty if the model names no one."""
        return self._word(CLIENT)

    def _word(self, role: str) -> str:
        """What the model calls who plays a role, in words; empty if it names no one."""
        return self.roles.words.get(role, "").replace("_", " ")

    @property
    def common(self) -> str:
        """The name of the lane for what belongs to no replica: of who decides it, or of no one."""
        return self.controller or SHARED

    @property
    def told(self) -> str:
        """The word for what must not be lost: acknowledged, or as the model calls it."""
        part = self.roles.whole.get("acknowledged")
        is_told = part is None or self.client or part.name.startswith("ack")
        return "acknowledged" if is_told or part is None else part.name.replace("_", " ")

    def lane(self, of: Type, value: Value) -> str | None:
        """The replica that a value names; None if it names none."""
        sort = sort_of_type(of)
        return None if sort is None or value is None else self._lane_of.get((sort, value))

    def actors(self, number: int) -> list[str]:
        """The replicas that parameters and choices of a step name, first the one its sentence begins with."""
        first, found = self.subject(number), dict.fromkeys(self.named(self.trace.steps[number - 1]))
        return sorted(found, key=lambda name: name != first)

    def named(self, step: Step) -> list[str]:
        """The same as they come, and twice who is named twice."""
        names = [self.lane(of, value) for _, of, value in self.given(step)]
        return [name for name in names if name is not None]

    def involved(self, number: int) -> list[str]:
        """The replicas that parameters and choices of a step name, themselves or in a set."""
        found = self.actors(number)
        for _, of, value in self.given(self.trace.steps[number - 1]):
            if isinstance(of, Set):
                found += [lane for each in ordered(value) if (lane := self.lane(of.of, each)) is not None]
        return found

    def subject(self, number: int) -> str | None:
        """Who the model's sentence for a step begins with: a replica, or who decides; None if another."""
        says = self.actions[self.trace.steps[number - 1].action].says or ()
        if not self.has_sentence(number):
            return None
        said = self.says(number)
        if isinstance(says[0], str) and says[0]:
            is_it = self.controller and re.match(
                rf"(the )?{re.escape(self.controller)}\b", said, re.IGNORECASE
            )
            return self.controller if is_it else None
        return max(
            (name for name in self.sort_of if re.match(rf"{re.escape(name)}\b", said)), key=len, default=None
        )

    def has_sentence(self, number: int) -> bool:
        """Whether the model has a sentence for a step."""
        return bool(self.actions[self.trace.steps[number - 1].action].says)

    def lanes(self, channel: Channel) -> list[str]:
        """The replicas that a channel of a network belongs to."""
        return [lane for lane in (self.lane(*key) for key in channel.keys) if lane is not None]

    def given(self, step: Step) -> list[tuple[str, Type, Value]]:
        """The names, types and values of a step's parameters and choices."""
        action = self.actions[step.action]
        found = [(p.name, p.type, v) for p, v in zip(action.params, step.args, strict=True)]
        return [*found, *((choice.name, choice.type, choice.value) for choice in step.choices)]

    def says(self, number: int) -> str:
        """The sentence for step `number`, counted from 1."""
        step = self.trace.steps[number - 1]
        return self.machine.says(self.actions[step.action], step, self.trace.states[number - 1])

    # ------------------------------------------------------------- states of replicas

    def replica_state(self, name: str, state: State, before: State | None) -> ReplicaState:
        """The drawn state of a replica, with the change of its log since `before`."""
        sort, member = self.sort_of[name]
        found = ReplicaState(sort)
        control = self.roles.whole.get("leader")
        if control is not None and sort_of_type(control.type) == sort:
            found = replace(found, chosen=control.of(state) == member)
        if up := self.roles.field(sort, "up"):
            found = replace(found, up=bool(up.of(state, member)))
        if leader := self.roles.field(sort, "leads"):
            value = leader.of(state, member)
            found = replace(found, leads=found.up and leads(leader, value, member))
            if found.up and sort_of_type(leader.type) == sort and value not in {None, member}:
                found = replace(found, follows=self.trace.scope.sorts[sort][value])
        elif found.chosen:  # what the members themselves believe is not known
            found = replace(found, leads=found.up)
        if (members := self.roles.whole.get("membership")) and element(members.type) == Sort(sort):
            found = replace(found, member=member in members.of(state))
        if epoch := self.roles.field(sort, "epoch"):
            found = replace(found, epoch=f"{dated(epoch)} {epoch.of(state, member)}")
            newest = self.roles.whole.get("epoch")
            is_old = newest is not None and newest.of(state) != epoch.of(state, member)
            found = replace(found, is_aware=found.leads and not is_old)
        if log := self.roles.field(sort, "log"):
            found = replace(found, log=self.entries.boxes(log, state, before, member))
        found = replace(found, oddities=tuple(self._oddities(sort, member, state)))
        found = replace(found, ties=tuple(self._held(sort, member, state)) if found.up else ())
        if mark := self.roles.field(sort, "high_watermark"):
            value = int(mark.of(state, member))
            if log is None or isinstance(log.type, Seq):
                found = replace(found, high_watermark=value, mark=mark.name)
            else:  # there is no order of entries in which it could be a bar
                found = replace(found, epoch=f"{found.epoch} · {mark.name} {value}".removeprefix(" · "))
        return found

    def _oddities(self, sort: str, member: int, state: State) -> Iterator[str]:
        """The Boolean fields of a replica that differ from the initial state, in words."""
        for index, name in self._switches:
            if self.trace.model.variables[index].owner == sort and self._is_odd(index, sort, member, state):
                yield f"{name}: {_answer(state[index][member])}"

    def _is_odd(self, index: int, sort: str, member: int, state: State) -> bool:
        """Whether a Boolean field of a replica differs from the initial state, and a picture shows that.

        Of one that is down only if it is true and would have been lost: it was set since.
        """
        up, value = self.roles.field(sort, "up"), state[index][member]
        is_lost = value and self.trace.model.variables[index].storage is Storage.VOLATILE
        is_shown = up is None or up.of(state, member) or is_lost
        return bool(is_shown) and value != self.trace.states[0][index][member]

    def set_back(self, number: int, index: int, name: str) -> str:
        """A replica's Boolean field in words, if step `number` set it back to what it is at the start.

        Empty if not, or if no picture of a state since then shows that it differs.
        """
        (sort, member), states = self.sort_of[name], self.trace.states
        field, first = dict(self._switches).get(index), states[0][index]
        if field is None or states[number][index][member] != first[member]:
            return ""
        for state in reversed(states[:number]):
            if state[index][member] == first[member]:
                break
            if self._is_odd(index, sort, member, state):
                return f"{field}: {_answer(first[member])}"
        return ""

    def _held(self, sort: str, member: int, state: State) -> Iterator[str]:
        """What a replica's fields without another role hold of its sort, and what the claim reads of it."""
        changing = (each for each in self._read if each[0] in self._changing)
        fields = dict.fromkeys((*self._ties, *changing))
        yield from (text for _, text in self._in_words(sort, member, state, fields))

    def claimed(self, name: str, state: State) -> dict[str, str]:
        """What the claim reads of a replica and no box, bar or other word shows, in words, by its field."""
        sort, member = self.sort_of[name]
        fields = (*self._read, *self._found_claimed(state, sort, member))
        return dict(self._in_words(sort, member, state, fields))

    def _found_claimed(self, state: State, sort: str, member: int) -> Iterator[tuple[int, str]]:
        """The ghosts of a replica that the claim reads, and its Boolean fields that are as at the start."""
        first, variables = self.trace.states[0], self.trace.model.variables
        switches = {index for index, _ in self._switches}
        for index in sorted(read_by_claim(self.trace)):
            variable = variables[index]
            if variable.owner != sort or (variable.ghost and not self.selection.has_claimed(index)):
                continue
            is_same = index in switches and state[index][member] == first[index][member]
            if is_same or (variable.ghost and (index, "") not in self.roles.hidden):
                yield index, variable.name.removeprefix(f"{sort}.")

    def _in_words(
        self, sort: str, member: int, state: State, fields: Iterable[tuple[int, str]]
    ) -> Iterator[tuple[str, str]]:
        """The names of a replica's fields that hold something, each with that in words."""
        for index, name in fields:
            variable = self.trace.model.variables[index]
            if variable.owner == sort and isinstance(variable.type, Map):
                value = state[index][member]
                if variable.type.value == BOOL:
                    yield name, f"{name}: {_answer(value)}"
                elif not is_nothing(value):
                    yield name, f"{name} {show(variable.type.value, value, self.trace.scope)}"

    def about(self, number: int) -> tuple[str, ...]:
        """The parts of the state after step `number` that are of no replica, which the claim reads, in words.

        Only those that nothing else shows; in the last state also those that are the same in all of the run.
        """
        variables, state = self.trace.model.variables, self.trace.states[number]
        is_last = number == len(self.trace.steps)
        read = [
            each
            for each in self._read
            if each[0] in self._changing or (is_last and not is_nothing(state[each[0]]))
        ]
        parts = [(name, variables[i].type, state[i]) for i, name in read if variables[i].owner is None]
        return tuple(f"{name}: {show(of, value, self.trace.scope)}" for name, of, value in parts)

    @cached_property
    def _changing(self) -> frozenset[int]:
        """The variables that are not the same in all of the run."""
        states = self.trace.states
        return frozenset(i for i, _ in enumerate(states[0]) if any(s[i] != states[0][i] for s in states))

    def _found_read(self) -> Iterator[tuple[int, str]]:
        """What the claim reads and nothing else draws, by name; but no maps, which would fill a frame."""
        variables = self.trace.model.variables
        played = {part.variable for part in (*self.roles.fields.values(), *self.roles.whole.values())}
        played |= {index for index, _ in self._switches}
        for index in sorted(read_by_claim(self.trace) - played):
            variable = variables[index]
            of = variable.type.value if variable.owner and isinstance(variable.type, Map) else variable.type
            is_of_run = not variable.ghost and variable.network is None
            if is_of_run and not isinstance(of, Map) and self._is_open(index):
                yield index, variable.name.removeprefix(f"{variable.owner}.")

    def _found_ties(self) -> Iterator[tuple[int, str]]:
        """The fields that hold members of their sort, or a set of them, and play no other role, by name."""
        played = {part.variable for part in self.roles.fields.values()}
        for index, variable in enumerate(self.trace.model.variables):
            owner, of = variable.owner, variable.type
            if owner is None or not isinstance(of, Map) or variable.ghost or variable.network is not None:
                continue
            holds = of.value.of if isinstance(of.value, Set | Option) else None
            if holds == Sort(owner) and index not in played and self._is_open(index):
                yield index, variable.name.removeprefix(f"{owner}.")

    def _found_switches(self) -> Iterator[tuple[int, str]]:
        """The Boolean fields without another role, with their names."""
        played = {part.variable for part in self.roles.fields.values()}
        for index, variable in enumerate(self.trace.model.variables):
            owner = variable.owner
            is_switch = owner is not None and variable.type == Map(Sort(owner), BOOL) and not variable.ghost
            if is_switch and index not in played and self._is_open(index):
                yield index, variable.name.removeprefix(f"{owner}.")

    def _is_open(self, index: int) -> bool:
        """Whether a variable is neither hidden by the model nor left out by selection."""
        return (index, "") not in self.roles.hidden and self.is_chosen(index, "")

    def is_chosen(self, index: int, field: str) -> bool:
        """Whether a variable or field is among what is to be shown."""
        return self.selection.has(index, field, self.trace.model.variables[index])

    def is_drawn(self, index: int, field: str) -> bool:
        """Whether a variable or field is drawn, as a box, bar or word, or hidden."""
        return (
            not {(index, ""), (index, field)}.isdisjoint(self.roles.hidden)
            or any(index == switch for switch, _ in self._switches)
            or any(part.variable == index for (_, role), part in self.roles.fields.items() if role in SEEN)
            or self.is_decided(index, field)
            or self._is_acknowledged(index, field)
        )

    def _is_acknowledged(self, index: int, field: str) -> bool:
        """Whether a variable or field has what was acknowledged, which arrows and ticks show."""
        part = self.roles.whole.get("acknowledged")
        return part is not None and part.variable == index and (not part.path or part.name == field)

    def is_decided(self, index: int, field: str) -> bool:
        """Whether a variable or field is the global leader, epoch or membership."""
        parts = [part for role, part in self.roles.whole.items() if role in DECIDED]
        return any(part.variable == index and (not part.path or part.name == field) for part in parts)

    def control(self, state: State) -> tuple[str, ...]:
        """The global leader, epoch and membership, in words."""
        scope = self.trace.scope
        parts = [self.roles.whole.get(role) for role in DECIDED]
        return tuple(f"{p.name}: {show(p.type, p.of(state), scope)}" for p in parts if p is not None)


def read_by_claim(trace: Trace) -> frozenset[int]:
    """The variables that the property of a trace reads; of an `assert`, what that of the last step does."""
    if trace.property is None:
        return frozenset()
    expr = trace.model.property(trace.property).expr
    if expr is not None or not trace.steps:
        return frozenset() if expr is None else variables_in(expr)
    inside = walk_statements(trace.model.action(trace.steps[-1].action).body)
    tests = [each.test for each in inside if isinstance(each, Assert) and each.name == trace.property]
    return frozenset(index for test in tests for index in variables_in(test))


def sort_of_type(of: Type) -> str | None:
    """The sort that values of a type name, if any."""
    if isinstance(of, Option):
        return sort_of_type(of.of)
    return of.name if isinstance(of, Sort) else None


def dated(epoch: NamedPart) -> str:
    """The name of an epoch in words: what it is goes behind a name that does not tell, as "follows epoch"."""
    word = last_word(epoch.type)
    is_said = word in epoch.name.lower() or word.startswith(epoch.name) or epoch.name in EPOCHS
    return epoch.name if is_said else f"{epoch.name} {word}"


def _answer(value: Value) -> str:
    """A Boolean in words."""
    return "yes" if value else "no"


def is_nothing(value: Value) -> bool:
    """Whether a value is `none`, or a collection with nothing in it."""
    return value is None or value in (frozenset(), ())
