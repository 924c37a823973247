"""A round on a real cluster: its plan carried out, what was foretold, and what it did once started again."""

from __future__ import annotations

import json
import re
import shutil
import signal
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from modelcheck.kafka.files.checkpoints import TopicPartition
from modelcheck.kafka.files.metadata.image import MetadataImage
from modelcheck.kafka.files.metadata.records import PartitionCreated
from modelcheck.kafka.reproduce import client
from modelcheck.kafka.reproduce.client import PREFERRED, UNCLEAN, Unanswered
from modelcheck.kafka.reproduce.cluster import name, until
from modelcheck.kafka.reproduce.observed_state import registration, unfenced
from tests.chaos.clients import Consumer, Producers
from tests.chaos.cluster import ChaosCluster
from tests.chaos.plan import (
    FIRST_CONTROLLER,
    OF_DISKS,
    OF_PROCESSES,
    OF_SEVERAL,
    Event,
    Kind,
    Plan,
    Producer,
    TopicPlan,
    as_json,
    described,
)

DROPPED = "*.index", "*.timeindex", "*.txnindex", ".lock", "*.tmp"
STARTED = "started (kafka.server.KafkaRaftServer)"
TRUNCATING = re.compile(r"partition=([\w.-]+)-0,.*Truncating to (?:offset )?(\d+)\b(?! has no effect)")
ENDING = "end of a transaction"  # in place of a value
STARTING = 150.0  # seconds, on a machine that does other work
ROLLING = 30.0  # seconds for a broker to come back, in a rolling restart
LOADING = 0.5, 2.0, 4.0  # seconds after which a broker that starts is killed: with a session, or without
ALONE = 9.0  # seconds for which the first broker runs alone: longer than a session lasts


class NotBegun(Exception):  # noqa: N818 - a cluster in trouble
    """Raised if a cluster does not get as far as to a round."""


class Round:
    """Carries out a plan, and keeps in a folder what was written, the directories, and what came after."""

    def __init__(self, cluster: ChaosCluster, plan: Plan, folder: Path, say: Callable[[str], None]) -> None:
        self.cluster, self.plan, self.folder = cluster, plan, folder
        self._say = say
        self._rng = Random(f"{plan.seed} carried out")  # noqa: S311 - no secret
        self._up, self._paused = set(cluster.brokers), set[int]()
        self._producers = Producers(cluster, self._rng)
        self._consumers: dict[str, Consumer] = {}  # by what they read
        self._kept: dict[str, Any] = {}
        self._gone: dict[int, str] = {}  # ids of log directories that are lost, of brokers with several
        self._steps: list[str] = []
        self.befallen: list[Event] = []
        self._began = time.monotonic()

    # ------------------------------------------------------------------ the plan

    def begin(self) -> None:
        """Create the topics, on a cluster whose brokers all run. Raises NotBegun."""
        brokers = set(self.cluster.brokers)
        if not until(lambda: (seen := self._image()) is not None and unfenced(seen) >= brokers, STARTING):
            raise NotBegun("not all brokers got a session")
        for topic in self.plan.topics:
            if not self._asked(partial(_create, topic)):
                raise NotBegun(f"topic {topic.name} was not created")
        if not until(self._is_whole, 60):
            raise NotBegun("not all replicas got in sync")
        self.plan = replace(self.plan, topics=tuple(map(self._as_placed, self.plan.topics)))
        clients = [self.cluster.client(node) for node in self.cluster.brokers]
        every = [topic.name for topic in self.plan.topics]
        some = [each.name for each in self.plan.topics if each.producer is Producer.TRANSACTIONAL]
        rack = self.plan.shape.rack(self._rng.choice(self.cluster.brokers))
        self._consumers["read"] = Consumer(clients, every, rack=rack)
        if some:
            self._consumers["read_committed"] = Consumer(clients, some, committed=True, rack=rack)

    def carry_out(self) -> None:
        """Let everything befall the cluster, until no node runs."""
        for _ in range(3):
            self._write()
        for event in self.plan.events:
            self._befall(event)
            time.sleep(event.wait)
            self._write()
        for event in self.plan.end:
            if event.kind in OF_DISKS and any(map(self.cluster.is_up, self.cluster.quorum)):
                self._end()
            self._befall(event)
            time.sleep(event.wait)
        self._end()
        self._producers.close()
        for each in self._consumers.values():
            each.close()

    def _end(self) -> None:
        """No node runs from here on."""
        still = [node for node in self.cluster.nodes if self.cluster.is_up(node)]
        if still:
            self.cluster.kill_all(still)
            self.befallen += [Event(Kind.KILL, node) for node in still if node < FIRST_CONTROLLER]
            self._note(f"kill -9 {', '.join(map(name, still))}")
        self._up.clear()
        self._paused.clear()
        self.cluster.heal()
        for node in self.cluster.brokers:
            self.cluster.return_directories(node)

    def _can(self, event: Event) -> bool:
        """Whether an event makes sense now: a plan that was made smaller may start who runs."""
        node, kind = event.node, event.kind
        if kind in {Kind.START, Kind.RETRY} or kind in OF_DISKS:
            return node not in self._up
        if kind in {Kind.STOP, Kind.PAUSE, Kind.FAIL, Kind.FULL}:
            return node in self._up - self._paused
        return node in {Kind.KILL: self._up, Kind.RESUME: self._paused}.get(kind, {node})

    def _befall(self, event: Event) -> None:
        """One event, if it can be."""
        node = event.node
        self._up = set(filter(self.cluster.is_up, self._up))  # one without a quorum gives up
        if not self._can(event):
            return
        self._note(described(event))
        if event.kind in OF_SEVERAL:
            for part in self._parts(event):
                self._befall(part)
                time.sleep(part.wait)
            for _ in range(event.writes):
                self._write()
            return
        befallen = event
        if event.kind in OF_DISKS:
            if not self._befall_disk(event):
                return
        elif event.kind is Kind.KILL_ALL:
            self._end()
        elif event.kind in OF_PROCESSES:
            befallen = replace(event, kind=self._befall_broker(event.kind, node))
        else:
            self._befall_links(event)
        self.befallen.append(befallen)
        for _ in range(event.writes):
            self._write()

    def _parts(self, event: Event) -> Iterator[Event]:
        """The kills, stops and starts that an event is."""
        node = event.node
        match event.kind:
            case Kind.RACK:
                yield from (Event(Kind.KILL, each, writes=0, wait=0) for each in self.plan.shape.beside(node))
            case Kind.RETRY:
                yield Event(Kind.START, node, writes=0, wait=self._rng.choice(LOADING))
                yield Event(Kind.KILL, node, writes=0, wait=0)
            case _:
                for each in sorted(self._up - self._paused):
                    yield Event(Kind.STOP, each, wait=0)
                    yield Event(Kind.START, each, writes=0, wait=0)
                    until(partial(self._has_session, each), ROLLING)

    def _has_session(self, node: int) -> bool:
        """Whether a broker is unfenced."""
        seen = self._image()
        return seen is not None and node in unfenced(seen)

    def _befall_disk(self, event: Event) -> bool:
        """Whether the disk of a broker that is down could lose something, and has."""
        cluster, node = self.cluster, event.node
        match event.kind:
            case Kind.WIPE:
                self._gone.pop(node, None)
                if cluster.folder(node).exists():
                    cluster.erase(node)
            case Kind.LOSE_ONE:
                found = cluster.lose_directory(node)
                if found is None:
                    return False
                self._gone[node] = found
            case _:
                lost = list(cluster.lose_unflushed(node, self._rng))
                for each in lost:
                    self._note(f"broker {node}: {each}")
                return bool(lost)
        return True

    def _befall_broker(self, kind: Kind, node: int) -> Kind:
        """What befalls the process of a broker: a stop may end in a kill."""
        cluster = self.cluster
        match kind:
            case Kind.KILL:
                cluster.kill(node)
            case Kind.STOP:
                if not cluster.shut_down(node):
                    self._note(f"broker {node} did not come to its end, and was killed")
                    kind = Kind.KILL
            case Kind.START:
                self._start(node)
            case Kind.PAUSE:
                cluster.signal(node, signal.SIGSTOP)
                self._paused.add(node)
            case Kind.RESUME:
                cluster.signal(node, signal.SIGCONT)
            case _:
                if not cluster.fill(node):
                    self._note(f"broker {node} ran on with a full disk, and was killed")
        if kind in {Kind.KILL, Kind.STOP, Kind.FULL}:
            self._up.discard(node)
        if kind is not Kind.PAUSE:
            self._paused.discard(node)
        return kind

    def _befall_links(self, event: Event) -> None:
        """What befalls no process of a broker: links, controllers, a disk in use, and topics."""
        cluster, topic = self.cluster, event.topic
        others = [node for each in event.others for node in ([each] if each else cluster.quorum)]
        match event.kind:
            case Kind.CUT:
                for other in others:
                    cluster.cut(event.node, other)
            case Kind.HOLD:
                for other in others:
                    cluster.hold(event.node, other)
            case Kind.HEAL:
                cluster.heal()
                for node in sorted(self._paused):
                    cluster.signal(node, signal.SIGCONT)
                self._paused.clear()
            case Kind.CONTROLLER:
                nodes = [event.node] if event.node else cluster.quorum
                cluster.kill_all(nodes)
                time.sleep(1)
                cluster.start(*nodes)
            case Kind.REASSIGN:
                self._asked(lambda up: client.reassign(up, event.others, topic=topic), 10)
            case Kind.FAIL:
                cluster.fail_directory(event.node)
            case Kind.PREFER | Kind.ELECT:
                kind = UNCLEAN if event.kind is Kind.ELECT else PREFERRED
                self._asked(lambda up: client.elect(up, kind=kind, topic=topic), 10)
            case _:
                self._asked(lambda up: client.change(up, event.setting, event.value, topic=topic), 10)

    def _start(self, node: int) -> None:
        """Start a broker, with all its disks."""
        self.cluster.return_directories(node)
        self.cluster.start(node)
        self._gone.pop(node, None)
        self._up.add(node)

    def _write(self) -> None:
        """A batch to each topic."""
        seen = self._image()
        found = {
            topic: seen.at(TopicPartition(topic.name, 0)) if seen else None for topic in self.plan.topics
        }
        self._producers.write(
            {topic: each.leader if each else None for topic, each in found.items()}, self._up
        )

    # ------------------------------------------------------------------ what is kept

    def keep(self) -> dict[str, Any]:
        """Copy the directories and what the nodes wrote, and write down what is true of them."""
        shutil.rmtree(self.folder, ignore_errors=True)
        cluster = self.cluster
        for node in cluster.nodes:
            place = cluster.folder(node)
            if place.exists():
                ignored = shutil.ignore_patterns(*DROPPED)
                shutil.copytree(place, self.folder / "data" / place.name, ignore=ignored)
            if cluster.output(node).exists():
                to = self.folder / "logs" / place.name / "server.log"
                to.parent.mkdir(parents=True)
                to.write_text(cluster.output_from(node, 0).replace(str(cluster.root), "DIR"))
        truth: dict[str, Any] = {
            "plan": as_json(self.plan),
            "kafka": cluster.home.version,
            "steps": self._steps,
            "befallen": [asdict(each) for each in self.befallen],
            "lost_directories": {str(node): id_ for node, id_ in self._gone.items()},
            "topics": {topic.name: self._truth(topic.name) for topic in self.plan.topics},
        }
        self._save("truth", truth)
        self._kept = truth["topics"]
        return truth

    def _truth(self, topic: str) -> dict[str, Any]:
        """What was sent to a topic and answered, and what each copy has."""
        return {
            "sent": [each.told() for each in self._producers.of(topic)],
            **{what: consumer.of(topic) for what, consumer in self._consumers.items()},
            "copies": {
                str(node): [[offset, value] for offset, value in self._copy(node, topic)]
                for node in self.cluster.brokers
            },
        }

    def _copy(self, node: int, topic: str) -> Iterator[tuple[int, str]]:
        """The offset and value of each record in a broker's copy; where a transaction ends, a name."""
        for record in self.cluster.records(node, topic):
            if record.batch.is_control:
                yield record.offset, f"{ENDING} in epoch {record.batch.epoch} at {record.offset}"
            elif record.value is not None:
                yield record.offset, record.value.decode()

    def ends(self, node: int, topic: str, known: Collection[str]) -> list[str]:
        """The known ends of transactions in a broker's copy: a consumer is not given them."""
        return [value for _, value in self._copy(node, topic) if value.startswith(ENDING) and value in known]

    def _save(self, what: str, data: object) -> None:
        """Write JSON into the round's folder."""
        (self.folder / f"{what}.json").write_text(json.dumps(data, indent=1) + "\n")

    # ------------------------------------------------------------------ started again

    def start_again(self, foretold: Mapping[str, Any]) -> dict[str, Any]:
        """Start everything, as advised or in the plan's order, and say what the cluster did."""
        advised = [*foretold["start"], *(b for b in self.cluster.brokers if b not in foretold["start"])]
        order = list(self.plan.again) or advised
        by_hand = {
            each["topic"]: each["wanted"]
            for each in foretold["partitions"]
            if each["by_hand"] and not self.plan.again
        }
        watch = Restart(self, by_hand)
        seen = watch.run(order)
        seen["by_advice"] = not self.plan.again
        self._save("seen", seen)
        return seen

    # ------------------------------------------------------------------ asking

    def _image(self) -> MetadataImage | None:
        return self.cluster.image()

    def _partition(self, topic: str) -> PartitionCreated | None:
        seen = self._image()
        return None if seen is None else seen.at(TopicPartition(topic, 0))

    def _as_placed(self, topic: TopicPlan) -> TopicPlan:
        """A topic with the replicas that it has."""
        found = self._partition(topic.name)
        return topic if found is None else replace(topic, replicas=tuple(found.replicas))

    def _is_whole(self) -> bool:
        """Whether all replicas are in sync."""
        found = self._image()
        if found is None:
            return False
        seen = [found.at(TopicPartition(topic.name, 0)) for topic in self.plan.topics]
        return all(each is not None and set(each.isr) == set(each.replicas) for each in seen)

    def _asked(self, ask: Callable[[list[str]], None], seconds: float = 60) -> bool:
        """Whether the cluster did what an operator asked within some time."""
        end = time.monotonic() + seconds
        while True:
            running = [self.cluster.client(each) for each in sorted(self._up - self._paused)]
            try:
                ask(running)
            except Unanswered as error:
                if "exist" in str(error).lower() or "not needed" in str(error).lower():
                    return True
                problem = str(error)
            except Exception as error:  # noqa: BLE001 - the library's own, of a cluster in trouble
                problem = repr(error)
            else:
                return True
            if time.monotonic() > end:
                self._note(f"refused: {problem}"[:120])
                return False
            time.sleep(1)

    def _note(self, text: str) -> None:
        self._steps.append(f"{time.monotonic() - self._began:.1f} s: {text}")
        self._say(self._steps[-1])


class Restart:
    """Watches a cluster that starts again: who led each topic, in which order."""

    def __init__(self, of: Round, by_hand: Mapping[str, int]) -> None:
        self._of, self._by_hand = of, by_hand
        self._topics = [topic.name for topic in of.plan.topics]
        self._trail: dict[str, list[list[Any]]] = {topic: [] for topic in self._topics}
        self._elected: list[str] = []
        self._before: dict[int, int | None] = {}  # registrations

    def run(self, order: list[int]) -> dict[str, Any]:
        """What the cluster did, as JSON data."""
        of, cluster = self._of, self._of.cluster
        first = self._of.plan.shape.started_first(order)
        before = {node: cluster.length(node) for node in cluster.brokers}
        seen = of._image()
        self._before = {node: registration(seen, node) for node in cluster.brokers}
        cluster.start(*(node for node in cluster.quorum if node not in cluster.brokers))
        for node in order:
            for each in first if node in first else [node]:
                if not cluster.is_up(each):
                    of._start(each)
            if not until(partial(self._runs, node, before[node]), STARTING):
                of._note(f"broker {node} did not come up")
            self._watch(ALONE if node == order[0] else 5.0)
            for topic in self._topics:
                if self._by_hand.get(topic) == node and not self._first(topic):
                    self._elect(topic)
        is_whole = until(self._is_whole, 45)
        for topic in self._topics:
            if self._leader(topic) is None:
                self._elect(topic)
        is_whole = is_whole or until(self._is_whole, 30)
        outputs = {node: cluster.output_from(node, before[node]) for node in cluster.brokers}
        return {
            "order": order,
            "first": first,
            "by_hand": self._elected,
            "trail": self._trail,
            "whole": is_whole,
            "values": {topic: self._values(topic) for topic in self._topics},
            "cut_back": {topic: cuts(topic, outputs) for topic in self._topics},
        }

    def _runs(self, node: int, since: int) -> bool:
        """Whether a broker has a session and has come up."""
        self._look()
        seen = self._of._image()
        return (
            seen is not None
            and node in self._here(seen)
            and STARTED in self._of.cluster.output_from(node, since)
        )

    def _watch(self, seconds: float) -> None:
        """Look for some time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._look()
            time.sleep(0.3)

    def _here(self, seen: MetadataImage) -> set[int]:
        """The brokers that have registered since and are unfenced: of others, what is written may be old."""
        return {node for node in unfenced(seen) if registration(seen, node) != self._before.get(node)}

    def _look(self) -> bool:
        """Note who leads, and who of the brokers is there, where that has changed; always True."""
        seen = self._of._image()
        for topic, trail in self._trail.items():
            found = None if seen is None else seen.at(TopicPartition(topic, 0))
            if seen is None or found is None:
                continue
            here = sorted(self._here(seen))
            now = [here, found.leader, list(found.isr), list(found.elr), found.leader_epoch]
            if not trail or trail[-1] != now:
                trail.append(now)
        return True

    def _leader(self, topic: str) -> int | None:
        """Who leads now, and is there."""
        self._look()
        here, leader, *_ = self._trail[topic][-1] if self._trail[topic] else ((), None)
        return leader if leader in here else None

    def _first(self, topic: str) -> int | None:
        """Who led first."""
        return next((leader for here, leader, *_ in self._trail[topic] if leader in here), None)

    def _is_whole(self) -> bool:
        self._look()
        return self._of._is_whole()

    def _elect(self, topic: str) -> None:
        """Elect by hand, uncleanly."""
        self._of._note(f"elect a leader of {topic} by hand")
        self._elected.append(topic)
        self._of._asked(lambda up: client.elect(up, kind=UNCLEAN, topic=topic), 30)
        until(lambda: self._leader(topic) is not None, 20)

    def _values(self, topic: str) -> list[str] | None:
        """All that a consumer reads; None where nobody lets it."""
        for _ in range(4):
            leader = self._leader(topic)
            if leader is None:
                return None
            try:
                found = client.read(self._of.cluster.client(leader), topic=topic)
            except Exception as error:  # noqa: BLE001 - as in `_asked`
                self._of._note(f"{topic} was not read: {error!r}"[:120])
                continue
            known = {value for copy in self._of._kept[topic]["copies"].values() for _, value in copy}
            return [*found, *self._of.ends(leader, topic, known)]
        return None


def _create(topic: TopicPlan, brokers: list[str]) -> None:
    """Create a topic."""
    replicas = len(topic.replicas) if topic.placed else topic.replicas
    client.create(brokers, replicas, topic.settings(), topic=topic.name)


def cuts(topic: str, outputs: Mapping[int, str]) -> dict[str, int]:
    """Where each broker says that it cut its log of a topic back to."""
    found: dict[str, int] = {}
    for node, output in outputs.items():
        ends = [int(each[2]) for each in TRUNCATING.finditer(output) if each[1] == topic]
        if ends:
            found[str(node)] = min(ends)
    return found
