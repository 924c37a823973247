"""The plan of a round, drawn from a seed: topics, what befalls the cluster, how it ends and starts again.

A seed fixes the plan, and not the timing: two rounds of one plan may end in different states.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from random import Random
from typing import Any

EVENTS = 3, 8  # the fewest and the most before the end
TOPICS = 3  # of a round
NAMES = "abcdefgh"
WAITS = 0.2, 1.0, 4.0, 9.0  # seconds after an event: within a session, about as long, and longer


class Kind(StrEnum):
    """What befalls a cluster."""

    KILL = "kill -9"
    STOP = "stop"
    START = "start"
    PAUSE = "pause"
    RESUME = "resume"
    CUT = "cut"  # both ways
    HOLD = "hold"  # one way: what the node asks of the others waits
    HEAL = "heal"
    WIPE = "lose the directory"
    POWER = "lose what was not flushed"
    CONTROLLER = "kill -9 the controller"
    REASSIGN = "reassign"
    PREFER = "elect the preferred leader"
    SET = "set"
    KILL_ALL = "kill -9 all"


DOWN = {Kind.KILL, Kind.STOP}
OF_DISKS = {Kind.WIPE, Kind.POWER}


@dataclass(frozen=True)
class Event:
    """What befalls a node or a topic, how often is written after it, and how long nothing else happens."""

    kind: Kind
    node: int = 0  # none
    others: tuple[int, ...] = ()  # of a cut link; the new replicas
    topic: str = ""
    setting: str = ""
    value: str = ""
    writes: int = 1
    wait: float = 0.2


@dataclass(frozen=True)
class TopicPlan:
    """A topic with one partition, and how is written to it."""

    name: str
    replicas: tuple[int, ...]
    acks: str
    min_isr: int
    unclean: bool

    def settings(self) -> dict[str, str]:
        """The topic's own settings."""
        return {
            "min.insync.replicas": str(self.min_isr),
            "unclean.leader.election.enable": str(self.unclean).lower(),
        }


@dataclass(frozen=True)
class Plan:
    """A round; `again` is the order to start in, empty where the advice of `inspect` is followed."""

    seed: int
    brokers: int
    elr: bool
    topics: tuple[TopicPlan, ...]
    events: tuple[Event, ...]
    end: tuple[Event, ...]
    again: tuple[int, ...] = ()

    def without_event(self, at: int) -> Plan:
        """The plan without one event, counted through the end."""
        every = [*self.events, *self.end]
        del every[at]
        split = len(self.events) - (at < len(self.events))
        return replace(self, events=tuple(every[:split]), end=tuple(every[split:]))

    def without_topic(self, name: str) -> Plan:
        """The plan without a topic and what befalls it alone."""

        def rest(events: tuple[Event, ...]) -> tuple[Event, ...]:
            return tuple(each for each in events if each.topic != name)

        topics = tuple(each for each in self.topics if each.name != name)
        return replace(self, topics=topics, events=rest(self.events), end=rest(self.end))


def drawn(seed: int, *, brokers: int, elr: bool, topics: int = TOPICS) -> Plan:
    """The plan of a seed for a cluster."""
    rng = Random(f"{seed} {brokers}")  # noqa: S311 - no secret; the same with and without ELR
    nodes = tuple(range(1, brokers + 1))
    chosen = tuple(_topic(rng, f"r{seed}{NAMES[number]}", nodes) for number in range(topics))
    draws = _Draws(rng, nodes, chosen)
    events = tuple(draws.event() for _ in range(rng.randint(*EVENTS)))
    end = tuple(draws.end())
    order = () if rng.random() < 0.5 else tuple(rng.sample(nodes, brokers))
    return Plan(seed, brokers, elr, chosen, events, end, order)


def _topic(rng: Random, name: str, nodes: tuple[int, ...]) -> TopicPlan:
    """A topic with settings at random."""
    copies = rng.choice([each for each in (2, 3, 3, 3, 4) if each <= len(nodes)])
    return TopicPlan(
        name,
        tuple(rng.sample(nodes, copies)),
        acks=rng.choice(["all", "all", "all", "1", "1", "0"]),
        min_isr=rng.randint(1, min(2, copies)),
        unclean=rng.random() < 1 / 3,
    )


class _Draws:
    """Draws events that make sense after those before: only a broker that is down is started."""

    def __init__(self, rng: Random, nodes: tuple[int, ...], topics: tuple[TopicPlan, ...]) -> None:
        self._rng, self._nodes, self._topics = rng, nodes, topics
        self._up, self._paused = set(nodes), set[int]()
        self._is_cut = False
        self._next: list[Kind] = []

    def event(self) -> Event:
        """The next event."""
        kind = self._next.pop() if self._next else self._rng.choice(list(self._possible()))
        found = self._of(kind)
        writes, wait = self._rng.randint(1, 2), self._rng.choice(WAITS)
        return replace(found, writes=writes, wait=wait)

    def end(self) -> Iterator[Event]:
        """How the round ends: all killed at once, all stopped, or either; then what befalls the disks."""
        rng = self._rng
        way = rng.choice(["kill", "stop", "mixed", "mixed"])
        if way == "kill":
            yield Event(Kind.KILL_ALL, writes=0)
        else:
            yield Event(Kind.HEAL, writes=0, wait=rng.choice([0.5, 4]))
            for node in rng.sample(sorted(self._up), len(self._up)):
                kind = Kind.KILL if way == "mixed" and rng.random() < 0.5 else Kind.STOP
                is_slow = rng.random() < 0.5
                yield Event(kind, node, writes=int(is_slow), wait=rng.choice([0.2, 7.0]) if is_slow else 0)
        befalls = rng.choice(["", "", "one", "all", "lost"])
        if befalls == "lost":
            yield Event(Kind.WIPE, rng.choice(self._nodes), writes=0, wait=0)
        chosen = {"one": (rng.choice(self._nodes),), "all": self._nodes}.get(befalls, ())
        for node in chosen:
            yield Event(Kind.POWER, node, writes=0, wait=0)

    def _possible(self) -> Iterator[Kind]:
        """The kinds that make sense now, each as often as it is likely."""
        down, running = set(self._nodes) - self._up, self._up - self._paused
        if running:
            yield from [Kind.KILL] * 3 + [Kind.STOP] * 2 + [Kind.PAUSE] * 2
            yield from [Kind.REASSIGN, Kind.PREFER, Kind.SET]
        if down:
            yield from [Kind.START] * (3 * len(down)) + [Kind.POWER] * 2 + [Kind.WIPE]
        if self._paused:
            yield from [Kind.RESUME] * 3
        if self._is_cut:
            yield from [Kind.HEAL] * 2
        yield from [Kind.CUT, Kind.HOLD, Kind.CONTROLLER]

    def _of(self, kind: Kind) -> Event:
        """An event of a kind, after which what is up is known."""
        rng = self._rng
        match kind:
            case Kind.KILL | Kind.STOP | Kind.PAUSE:
                node = rng.choice(sorted(self._up if kind is Kind.KILL else self._up - self._paused))
                if kind is Kind.PAUSE:
                    self._paused.add(node)
                else:
                    self._up.discard(node)
                    self._paused.discard(node)
                return Event(kind, node)
            case Kind.START | Kind.POWER | Kind.WIPE:
                node = rng.choice([each for each in self._nodes if each not in self._up])
                if kind is Kind.START:
                    self._up.add(node)
                return Event(kind, node)
            case Kind.RESUME:
                node = rng.choice(sorted(self._paused))
                self._paused.discard(node)
                return Event(kind, node)
            case Kind.CUT | Kind.HOLD:
                self._is_cut = True
                return self._cut(kind)
            case Kind.HEAL:
                self._is_cut = False
                return Event(kind)
            case Kind.REASSIGN | Kind.PREFER | Kind.SET:
                return self._of_topic(kind)
            case _:
                return Event(kind)

    def _cut(self, kind: Kind) -> Event:
        """A broker cut off from the controller, the other brokers or both; the controller is node 0."""
        node = self._rng.choice(self._nodes)
        others = tuple(each for each in self._nodes if each != node)
        return Event(kind, node, self._rng.choice([(0,), others, (0, *others)]))

    def _of_topic(self, kind: Kind) -> Event:
        """What an operator does with a topic."""
        rng = self._rng
        topic = rng.choice(self._topics)
        if kind is Kind.REASSIGN:
            return Event(kind, others=tuple(rng.sample(self._nodes, len(topic.replicas))), topic=topic.name)
        if kind is Kind.PREFER:
            return Event(kind, topic=topic.name)
        setting = rng.choice(list(topic.settings()))
        value = rng.choice(["1", "2"] if setting.startswith("min") else ["true", "false"])
        return Event(kind, topic=topic.name, setting=setting, value=value)


def described(event: Event) -> str:
    """An event in words."""
    nodes = ", ".join("the controller" if each == 0 else str(each) for each in event.others)
    match event.kind:
        case Kind.CUT | Kind.HOLD:
            return f"{event.kind} {event.node} from {nodes}"
        case Kind.REASSIGN:
            return f"reassign {event.topic} to {nodes}"
        case Kind.PREFER:
            return f"{event.kind} of {event.topic}"
        case Kind.SET:
            return f"set {event.setting}={event.value} of {event.topic}"
        case Kind.WIPE | Kind.POWER:
            return f"broker {event.node}: {event.kind}"
        case _:
            return f"{event.kind} {event.node}" if event.node else str(event.kind)


# ------------------------------------------------------------------ as JSON


def as_json(plan: Plan) -> dict[str, Any]:
    """The plan as JSON data."""
    return asdict(plan)


def from_json(data: Mapping[str, Any]) -> Plan:
    """The plan of JSON data."""
    found = json.loads(json.dumps(data))  # tuples as lists, however it was made
    topics = tuple(TopicPlan(**{**each, "replicas": tuple(each["replicas"])}) for each in found["topics"])
    given = {**found, "topics": topics, "again": tuple(found["again"])}
    for part in ("events", "end"):
        given[part] = tuple(event_from_json(each) for each in found[part])
    return Plan(**given)


def event_from_json(data: Mapping[str, Any]) -> Event:
    """The event of JSON data."""
    return Event(**{**data, "kind": Kind(data["kind"]), "others": tuple(data["others"])})
