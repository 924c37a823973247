"""The plan of a round, drawn from a seed: topics, what befalls the cluster, how it ends and starts again.

A seed fixes the plan, and not the timing: two rounds of one plan may end in different states.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
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
    FAIL = "fail a log directory"  # of several, while the broker runs
    LOSE_ONE = "lose a log directory"  # of several
    FULL = "fill the disk"
    CONTROLLER = "kill -9 the controller"
    REASSIGN = "reassign"
    PREFER = "elect the preferred leader"
    SET = "set"
    ELECT = "elect uncleanly"  # by hand
    ROLL = "restart one after the other"
    RETRY = "kill -9 while it starts"
    RACK = "kill -9 a rack"
    KILL_ALL = "kill -9 all"


OF_DISKS = {Kind.WIPE, Kind.POWER, Kind.LOSE_ONE}  # befall brokers that are down
OF_PROCESSES = {Kind.KILL, Kind.STOP, Kind.START, Kind.PAUSE, Kind.RESUME, Kind.FULL}  # of brokers
OF_SEVERAL = {Kind.ROLL, Kind.RETRY, Kind.RACK}  # which are told as kills, stops and starts
FIRST_CONTROLLER = 100


class Producer(StrEnum):
    """How a topic is written to."""

    PLAIN = "plain"
    IDEMPOTENT = "idempotent"
    TRANSACTIONAL = "transactional"


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
class Shape:
    """What a cluster is made of; `combined` brokers are the controllers, and there are no others."""

    brokers: int
    elr: bool = False
    controllers: int = 1
    combined: bool = False
    directories: int = 1  # log directories of a broker
    racks: int = 0  # none: brokers have no rack

    @property
    def nodes(self) -> tuple[int, ...]:
        """The ids of the brokers."""
        return tuple(range(1, self.brokers + 1))

    @property
    def quorum(self) -> tuple[int, ...]:
        """The ids of the controllers."""
        first = 1 if self.combined else FIRST_CONTROLLER
        return tuple(range(first, first + self.controllers))

    def rack(self, node: int) -> str:
        """The rack of a broker; empty without racks."""
        return f"rack{node % self.racks}" if self.racks else ""

    def beside(self, node: int) -> tuple[int, ...]:
        """The brokers of a broker's rack, or it alone."""
        rack = self.rack(node)
        return tuple(each for each in self.nodes if each == node or (rack and self.rack(each) == rack))

    def started_first(self, order: Sequence[int]) -> list[int]:
        """The brokers that are started at once: as many as are needed before one of them runs."""
        if not self.combined:
            return [*order[:1]]
        needed = [node for node in order if node in self.quorum][self.controllers // 2]
        return [*order[: order.index(needed) + 1]]


@dataclass(frozen=True)
class TopicPlan:
    """A topic with one partition, and how is written to it.

    Where it is `placed`, the controller chooses the replicas, and those of the plan only say how many.
    """

    name: str
    replicas: tuple[int, ...]
    acks: str
    min_isr: int
    unclean: bool
    producer: Producer = Producer.PLAIN
    placed: bool = False

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
    shape: Shape
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

    def of_topic(self, name: str) -> Plan:
        """The plan of one topic, without the others and what befalls them alone."""
        plan = self
        for topic in self.topics:
            plan = plan if topic.name == name else plan.without_topic(topic.name)
        return plan

    def without_topic(self, name: str) -> Plan:
        """The plan without a topic and what befalls it alone."""

        def rest(events: tuple[Event, ...]) -> tuple[Event, ...]:
            return tuple(each for each in events if each.topic != name)

        topics = tuple(each for each in self.topics if each.name != name)
        return replace(self, topics=topics, events=rest(self.events), end=rest(self.end))


def drawn(seed: int, shape: Shape, *, topics: int = TOPICS) -> Plan:
    """The plan of a seed for a cluster."""
    rng = Random(f"{seed} {shape.brokers}")  # noqa: S311 - no secret; the same with and without ELR
    chosen = tuple(_topic(rng, f"r{seed}{NAMES[number]}", shape) for number in range(topics))
    draws = _Draws(rng, shape, chosen)
    events = tuple(draws.event() for _ in range(rng.randint(*EVENTS)))
    end = tuple(draws.end())
    order = () if rng.random() < 0.5 else tuple(rng.sample(shape.nodes, shape.brokers))
    return Plan(seed, shape, chosen, events, end, order)


def drawn_shape(seed: int) -> Shape:
    """The cluster of a seed, with eligible leader replicas where its release has them."""
    rng = Random(f"cluster {seed}")  # noqa: S311 - no secret
    brokers, elr = rng.choice([3, 3, 4]), rng.random() < 0.5
    controllers, directories = rng.choice([1, 1, 3]), rng.choice([1, 1, 2])
    combined = controllers > 1 and rng.random() < 0.5
    return Shape(brokers, elr, controllers, combined, directories, rng.choice([0, 2, 3]))


def _topic(rng: Random, name: str, shape: Shape) -> TopicPlan:
    """A topic with settings at random; a producer that is not plain has acks=all."""
    nodes = shape.nodes
    copies = rng.choice([each for each in (2, 3, 3, 3, 4) if each <= len(nodes)])
    producer = rng.choice([*[Producer.PLAIN] * 4, Producer.IDEMPOTENT, Producer.TRANSACTIONAL])
    acks = rng.choice(["all", "all", "all", "1", "1", "0"])
    return TopicPlan(
        name,
        tuple(rng.sample(nodes, copies)),
        acks=acks if producer is Producer.PLAIN else "all",
        min_isr=rng.randint(1, min(2, copies)),
        unclean=rng.random() < 1 / 3,
        producer=producer,
        placed=bool(shape.racks) and rng.random() < 0.5,
    )


class _Draws:
    """Draws events that make sense after those before: only a broker that is down is started."""

    def __init__(self, rng: Random, shape: Shape, topics: tuple[TopicPlan, ...]) -> None:
        self._rng, self._shape, self._topics = rng, shape, topics
        self._nodes = shape.nodes
        self._up, self._paused = set(self._nodes), set[int]()
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
            kind = rng.choice([Kind.WIPE, Kind.LOSE_ONE]) if self._shape.directories > 1 else Kind.WIPE
            yield Event(kind, rng.choice(self._nodes), writes=0, wait=0)
        chosen = {"one": (rng.choice(self._nodes),), "all": self._nodes}.get(befalls, ())
        for node in chosen:
            yield Event(Kind.POWER, node, writes=0, wait=0)

    def _possible(self) -> Iterator[Kind]:
        """The kinds that make sense now, each as often as it is likely."""
        down, running = set(self._nodes) - self._up, self._up - self._paused
        if running:
            yield from [Kind.KILL] * 3 + [Kind.STOP] * 2 + [Kind.PAUSE] * 2
            yield from [Kind.REASSIGN, Kind.PREFER, Kind.SET, Kind.FULL, Kind.ELECT, Kind.ROLL]
            yield from [Kind.RACK] if self._shape.racks else []
            yield from [Kind.FAIL] * 3 if self._shape.directories > 1 else []
        if down:
            yield from [Kind.START] * (3 * len(down)) + [Kind.POWER] * 2 + [Kind.WIPE, Kind.RETRY]
            yield from [Kind.LOSE_ONE] if self._shape.directories > 1 else []
        if self._paused:
            yield from [Kind.RESUME] * 3
        if self._is_cut:
            yield from [Kind.HEAL] * 2
        yield from [Kind.CUT, Kind.HOLD]
        yield from [] if self._shape.combined else [Kind.CONTROLLER]

    def _of(self, kind: Kind) -> Event:
        """An event of a kind, after which what is up is known."""
        rng = self._rng
        match kind:
            case Kind.KILL | Kind.STOP | Kind.PAUSE | Kind.FAIL | Kind.FULL | Kind.RACK:
                node = rng.choice(sorted(self._up if kind is Kind.KILL else self._up - self._paused))
                if kind is Kind.FAIL:
                    return Event(kind, node)
                if kind is Kind.PAUSE:
                    self._paused.add(node)
                else:
                    gone = self._shape.beside(node) if kind is Kind.RACK else (node,)
                    self._up.difference_update(gone)
                    self._paused.difference_update(gone)
                return Event(kind, node)
            case Kind.START | Kind.POWER | Kind.WIPE | Kind.LOSE_ONE | Kind.RETRY:
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
            case Kind.REASSIGN | Kind.PREFER | Kind.SET | Kind.ELECT:
                return self._of_topic(kind)
            case Kind.CONTROLLER:
                several = self._shape.controllers > 1
                return Event(kind, rng.choice([0, *self._shape.quorum]) if several else 0)
            case _:
                return Event(kind)

    def _cut(self, kind: Kind) -> Event:
        """A node cut off from the controllers, the brokers or both; all controllers are node 0."""
        rng, shape = self._rng, self._shape
        apart = shape.quorum if shape.controllers > 1 and not shape.combined else ()
        node = rng.choice([*self._nodes, *apart])
        others = tuple(each for each in self._nodes if each != node)
        if shape.combined:
            return Event(kind, node, rng.choice([others, (rng.choice(others),)]))
        return Event(kind, node, rng.choice([(0,), others, (0, *others)]))

    def _of_topic(self, kind: Kind) -> Event:
        """What an operator does with a topic."""
        rng = self._rng
        topic = rng.choice(self._topics)
        if kind is Kind.REASSIGN:
            return Event(kind, others=tuple(rng.sample(self._nodes, len(topic.replicas))), topic=topic.name)
        if kind in {Kind.PREFER, Kind.ELECT}:
            return Event(kind, topic=topic.name)
        setting = rng.choice(list(topic.settings()))
        value = rng.choice(["1", "2"] if setting.startswith("min") else ["true", "false"])
        return Event(kind, topic=topic.name, setting=setting, value=value)


def described(event: Event) -> str:
    """An event in words."""
    nodes = ", ".join("the controllers" if each == 0 else str(each) for each in event.others)
    match event.kind:
        case Kind.CUT | Kind.HOLD:
            return f"{event.kind} {event.node} from {nodes}"
        case Kind.REASSIGN:
            return f"reassign {event.topic} to {nodes}"
        case Kind.RACK:
            return f"kill -9 the rack of {event.node}"
        case Kind.PREFER | Kind.ELECT:
            return f"{event.kind}: {event.topic}"
        case Kind.SET:
            return f"set {event.setting}={event.value} of {event.topic}"
        case Kind.WIPE | Kind.POWER | Kind.LOSE_ONE | Kind.FAIL | Kind.FULL | Kind.RETRY:
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
    topics = tuple(_topic_from_json(each) for each in found["topics"])
    events, end = (tuple(event_from_json(each) for each in found[part]) for part in ("events", "end"))
    return Plan(found["seed"], Shape(**found["shape"]), topics, events, end, tuple(found["again"]))


def _topic_from_json(data: Mapping[str, Any]) -> TopicPlan:
    """The topic of JSON data."""
    return TopicPlan(**{**data, "replicas": tuple(data["replicas"]), "producer": Producer(data["producer"])})


def event_from_json(data: Mapping[str, Any]) -> Event:
    """The event of JSON data."""
    return Event(**{**data, "kind": Kind(data["kind"]), "others": tuple(data["others"])})
