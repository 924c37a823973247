"""The messages of a run: which are under way, and which of them a step needs.

Nothing is read off the text of an action: a step needs a message if without it the
semantics would refuse the step, or let it do something else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from itertools import combinations

from counterexamples.trace import Trace
from spec.frozen import frozen
from spec.meaning.semantics import Machine, State, Taken
from spec.model.ir import Model, Scope, Value
from spec.model.types import Bag, Map, Seq, Set, Type
from spec.model.values import ModelError, members, ordered
from spec.model.walk import expressions, expressions_before, variables_in, walk_statements

FEW = 5  # messages of which all sets are looked at


@frozen
class Message:
    """A message in a channel of a network; copies of it are one."""

    network: int  # the index of its variable
    channel: tuple[int, ...]  # the places in the network's maps, from the outside
    value: Value


@frozen
class Channel:
    """A channel of a network: its place, the members or values that are its keys, its type and content."""

    network: int
    place: tuple[int, ...]
    keys: tuple[tuple[Type, Value], ...]
    type: Set | Bag | Seq
    content: Value

    @property
    def counted(self) -> Counter[Value]:
        """The messages in it, with the number of copies."""
        return Counter(dict(self.content) if isinstance(self.type, Bag) else self.content)


def channels(model: Model, scope: Scope, state: State) -> Iterator[Channel]:
    """The channels of all networks in a state."""
    for index, variable in enumerate(model.variables):
        if variable.network is not None:
            yield from _channels(index, (), (), variable.type, state[index], scope)


def _channels(
    network: int,
    place: tuple[int, ...],
    keys: tuple[tuple[Type, Value], ...],
    of: Type,
    value: Value,
    scope: Scope,
) -> Iterator[Channel]:
    """The channels within a part of a network."""
    if isinstance(of, Map):
        for at, (key, inner) in enumerate(zip(members(of.key, scope), value, strict=True)):
            yield from _channels(network, (*place, at), (*keys, (of.key, key)), of.value, inner, scope)
    elif isinstance(of, Set | Bag | Seq):
        yield Channel(network, place, keys, of, value)


def without(model: Model, state: State, gone: Collection[Message]) -> State:
    """The state without any copy of some messages."""
    changed = list(state)
    for each in gone:
        of, whole = model.variables[each.network].type, changed[each.network]
        changed[each.network] = _without(of, whole, each.channel, each.value)
    return tuple(changed)


def _without(of: Type, value: Value, place: tuple[int, ...], message: Value) -> Value:
    """A part of a network without any copy of a message."""
    match of:
        case Map(value=inner):
            at = place[0]
            return (*value[:at], _without(inner, value[at], place[1:], message), *value[at + 1 :])
        case Bag():
            return frozenset(each for each in value if each[0] != message)
        case Seq():
            return tuple(each for each in value if each != message)
        case _:
            return value - {message}


class Needs:
    """Finds the messages that the steps of a run need."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._machine = Machine(trace.model, trace.scope)
        self._looked: dict[str, frozenset[int]] = {}  # by action, the networks that it names
        self._found: dict[int, tuple[Message, ...]] = {}

    def of_step(self, number: int) -> tuple[Message, ...]:
        """The messages that step `number`, counted from 1, needs, in the order of networks.

        Those are the messages that make a difference to it, whatever others are there: without them, or
        without some others and them, it would be impossible or another.  So of a majority that
        is counted each vote is one, also where there are more votes than that.  Costs the step once for each
        set of messages under way if these are few; of many it may miss some, and costs at most the
        square of their number.
        """
        if number not in self._found:
            self._found[number] = tuple(self._needed(number))
        return self._found[number]

    def is_without_use(self, message: Message, number: int) -> bool:
        """Whether no later step than step `number` needs a message; False if that is not known for sure.

        A fault needs none: what a fault does with a message is no use of it.
        """
        is_known = all(len(self._under_way(n)) <= FEW for n in self._later(number))
        return is_known and self.next_use(message, number) is None

    def next_use(self, message: Message, number: int) -> int | None:
        """The first step after step `number`, and no fault, that needs a message; None if none is known."""
        return next((n for n in self._later(number) if message in self.of_step(n)), None)

    def _later(self, number: int) -> Iterator[int]:
        """The steps after step `number` that are no faults."""
        faults = set(self._trace.model.faults)
        return (n for n, step in enumerate(self._trace.steps, 1) if n > number and step.action not in faults)

    def _needed(self, number: int) -> Iterator[Message]:
        """The messages that a step needs."""
        there = self._under_way(number)
        if len(there) <= FEW:
            yield from self._that_matter(number, there)
            return
        if self._is_same(number, there):
            return
        alone = [each for each in there if not self._is_same(number, [each])]
        others = [each for each in there if each not in alone]
        if self._is_same(number, others):
            others = []
        for each in there:
            if each in alone or (each in others and self._is_counted(number, each, others)):
                yield each

    def _that_matter(self, number: int, there: list[Message]) -> Iterator[Message]:
        """The messages that make a difference with some set of others."""
        sets = [frozenset(each) for size in range(len(there) + 1) for each in combinations(there, size)]
        same = {each: self._is_same(number, each) for each in sets}
        for message in there:
            if any(same[each] and not same[each | {message}] for each in sets):
                yield message

    def _is_counted(self, number: int, message: Message, others: list[Message]) -> bool:
        """Whether a message is needed when as many others as possible are not there."""
        gone: list[Message] = []
        for other in others:
            if other != message and self._is_same(number, [*gone, other]):
                gone.append(other)
        return not self._is_same(number, [*gone, message])

    def _under_way(self, number: int) -> list[Message]:
        """The messages before a step, in networks that its action names."""
        named = self._networks(self._trace.steps[number - 1].action)
        state = self._trace.states[number - 1]
        return [
            Message(each.network, each.place, value)
            for each in (channels(self._trace.model, self._trace.scope, state) if named else ())
            if each.network in named
            for value in ordered(set(each.counted))
        ]

    def _networks(self, name: str) -> frozenset[int]:
        """The networks that an action names."""
        if name not in self._looked:
            action = self._trace.model.action(name)
            inside = (part for each in walk_statements(action.body) for part in expressions(each))
            named = {index for each in (*expressions_before(action), *inside) for index in variables_in(each)}
            networks = {i for i, each in enumerate(self._trace.model.variables) if each.network is not None}
            self._looked[name] = frozenset(named & networks)
        return self._looked[name]

    def _is_same(self, number: int, gone: Collection[Message]) -> bool:
        """Whether a step is possible without some messages and does the same but for them."""
        trace, step = self._trace, self._trace.steps[number - 1]
        before, after = (without(trace.model, trace.states[n], gone) for n in (number - 1, number))
        try:
            return any(
                isinstance(taken, Taken)
                and taken.step.choices == step.choices
                and without(trace.model, taken.state, gone) == after
                for taken in self._machine.steps(before, actions=(step.action,), args=step.args)
            )
        except ModelError:
            return False
