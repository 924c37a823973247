"""A plan, carried out on a real cluster; after each phase the cluster is compared with the model."""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import Enum

import modelcheck.kafka.reproduce.client as client
from modelcheck.kafka.files.checkpoints import TopicPartition, read_offsets
from modelcheck.kafka.reproduce.cluster import CONTROLLER, Cluster, until
from modelcheck.kafka.reproduce.excerpts import RECOVERY_POINTS, Excerpt, NewInFiles
from modelcheck.kafka.reproduce.observed_state import (
    NODES,
    OTHER,
    RECORD,
    Difference,
    Ending,
    SeenPartition,
    cut_log,
    high_watermark,
    image,
    records,
    registration,
    unfenced,
)
from modelcheck.kafka.reproduce.plan import Phase, Plan
from modelcheck.kafka.reproduce.prediction import Predicted
from modelcheck.kafka.reproduce.settings import ClusterSettings
from spec.frozen import frozen
from spec.meaning.semantics import Step

PLACE = TopicPartition(client.TOPIC, client.PARTITION)
STARTING = 120.0  # seconds for a cluster to be ready
PATIENCE = 90.0  # seconds for a cluster to come to look as it should
STEADY = 4.0  # seconds for which it must look so, where more could follow
LONGEST = 16.0  # seconds after which something follows at the latest
ANSWERED = 20.0  # seconds for an answer that is sure to come
FIRST_WRITTEN = 45.0  # seconds until a broker that has started writes down how far its logs are flushed
BETWEEN = 2.0  # seconds in which a broker has registered again with the controller
WRITTEN_DOWN = 5.0  # seconds until a broker has written down its high watermark, which it does twice a second
FLUSHING = "flush.messages"
EVERY = 0.1
AT_ONCE = 0.02  # seconds between two looks for a registration: to load its logs takes a broker longer


class How(Enum):
    """How the cluster behaved in a phase, compared with the run and with the model."""

    AS_THE_RUN = "as the run says"
    AS_THE_MODEL = "as the model says"
    OTHER_WAY = "another way, which the model has too"
    OTHERWISE = "otherwise than the model"
    NOT_COMPARED = "not compared any more"


@frozen
class HighWatermark:
    """A broker's high watermark in records, and the model's, None if it is not determined."""

    broker: int
    model: int | None
    cluster: int

    @property
    def differs(self) -> bool:
        """Whether the model determines another value."""
        return self.model is not None and self.model != self.cluster


@frozen
class PhaseEnd:
    """The cluster at the end of a phase, and the expected state; notes on extra actions.

    `did` are the steps of the phase that were done, in that order, and `files` what is new in the
    cluster's files, where something differs also what its processes wrote last.
    """

    phase: Phase
    did: tuple[Step, ...]
    how: How
    cluster: SeenPartition
    differences: tuple[Difference, ...]
    marks: tuple[HighWatermark, ...]
    files: tuple[Excerpt, ...]
    notes: tuple[str, ...]
    seconds: float


@frozen
class Run:
    """The result of executing a plan on a cluster.

    `acked` were acknowledged; `kept` are in the log of the leader, and `given` what a consumer got
    from it, None where there is no leader.  `lost` were acknowledged, and are neither.
    """

    ends: tuple[PhaseEnd, ...]
    leader: int | None
    acked: tuple[int, ...]
    kept: tuple[int, ...] | None
    given: tuple[int, ...] | None
    seconds: float

    @property
    def lost(self) -> tuple[int, ...]:
        """The acknowledged records that the leader lacks; none without a leader."""
        if self.kept is None:
            return ()
        return tuple(each for each in self.acked if each not in {*self.kept, *(self.given or ())})

    @property
    def ending(self) -> Ending:
        """The fate of the acknowledged records."""
        if self.kept is None:
            return Ending.NOBODY_LEADS
        return Ending.LOST if self.lost else Ending.KEPT

    @property
    def first_otherwise(self) -> PhaseEnd | None:
        """The first phase that differs from the prediction."""
        usual = {How.AS_THE_RUN, How.AS_THE_MODEL, How.NOT_COMPARED}
        return next((end for end in self.ends if end.how not in usual), None)


class Driver:
    """Executes a plan on a cluster; with `freely` only the forced steps are taken from the plan."""

    def __init__(
        self,
        plan: Plan,
        predicted: Predicted,
        cluster: Cluster,
        settings: ClusterSettings,
        *,
        freely: bool,
        tell: Callable[[str], None],
    ) -> None:
        self._plan = plan
        self._predicted = predicted
        self._cluster = cluster
        self._settings = settings
        self._freely = freely
        self._tell = tell
        self._order = tuple(each + NODES for each in plan.order)
        self._sent: dict[int, client.Sent] = {}
        self._held: frozenset[tuple[int, int]] = frozenset()
        self._unlinked: set[int] = set()
        self._files = NewInFiles(cluster, PLACE)

    # ------------------------------------------------------------------ the whole

    def run(self) -> Run:
        """Execute all phases and read the final state. Raises NotStarted, Unanswered or TimeoutError."""
        client.begin()
        began = time.monotonic()
        try:
            self._start()
            ends = []
            for phase in self._plan.phases:
                ends.append(self._phase(phase))
                if ends[-1].how is How.OTHERWISE and not self._freely:
                    break
            if self._freely:
                self._release(self._held)
                self._predicted.wait(frozenset())
                self._tell("the cluster's own steps")
                self._await(None, [])
            return self._result(tuple(ends), began)
        finally:
            for each in self._sent.values():
                each.close()

    def _start(self) -> None:
        """Start the cluster, create the topic, and wait until it is writable."""
        cluster = self._cluster
        self._tell("starting the cluster")
        nodes = (CONTROLLER, *cluster.brokers)
        cluster.format()
        cluster.start(*nodes)
        self._must(lambda: self._unfenced() == set(cluster.brokers), "the brokers did not register")
        self._must(self._has_topic, "no broker takes the topic")
        self._must(lambda: self._writes(self._order[0]), "the first leader takes no writes")

    def _has_topic(self) -> bool:
        """Try to create the topic; return whether it exists."""
        first = self._order[0]
        try:
            client.create([self._cluster.client(first)], self._order, self._settings.topic)
        except client.Unanswered:
            return self._seen() is not None  # it may have been made by a request that had no answer
        return True

    def _writes(self, node: int) -> bool:
        """Whether a record unrelated to the run is replicated everywhere."""
        try:
            sent = client.send(self._cluster.client(node), [OTHER], "all")
        except client.Unanswered:
            return False
        until(lambda: sent.is_answered, ANSWERED)
        sent.close()
        return sent.is_acknowledged

    def _must(self, holds: Callable[[], bool], problem: str) -> None:
        """Wait until a condition is true; raises TimeoutError with the problem otherwise."""

        def looked() -> bool:
            self._cluster.check()
            return holds()

        if not until(looked, STARTING):
            raise TimeoutError(problem)

    def _phase(self, phase: Phase) -> PhaseEnd:
        """Execute one phase."""
        began = time.monotonic()
        notes: list[str] = []
        did: list[Step] = []
        released = self._held - phase.held
        self._hold(phase.held - self._held)
        self._prepare(phase.done)
        for number, step in enumerate(sorted(phase.done, key=self._is_of_leader)):
            self._tell(f"step {phase.first + number}: {_name(step, self._predicted.view.names)}")
            if number:
                time.sleep(BETWEEN)
            refusal = self._predicted.refuses(step)
            if refusal and step.action != "produce":
                notes.append(f"left out, since the model does not have it here ({refusal})")
                continue
            self._do(step, notes, expects_refusal=bool(refusal))
            did.append(step)
            if not refusal:
                self._predicted.do(step)
        if len(phase.done) > 1:
            notes.append("the leader goes down last: the controller notices in the order in which they go")
        self._release(released)
        self._held = phase.held
        self._predicted.wait(phase.held)
        wanted = None if self._freely else self._predicted.view.seen(phase.after)
        how, seen, expected = self._await(wanted, notes)
        differences = () if expected is None else self._predicted.view.differences(expected, seen)
        files = self._files.read()
        marks = self._high_watermarks(seen)
        differences += self._wrong(marks)
        if differences:
            files += self._files.last_lines()
        self._predicted.take(seen)
        seconds = time.monotonic() - began
        return PhaseEnd(phase, tuple(did), how, seen, differences, marks, files, tuple(notes), seconds)

    def _is_of_leader(self, step: Step) -> bool:
        """Whether a step is by the partition's leader."""
        seen = self._seen()
        return seen is not None and step.args[0] == seen.leader

    def _prepare(self, steps: tuple[Step, ...]) -> None:
        """Wait, before a power loss, until the broker has written its recovery point."""
        for step in steps:
            if step.action == "power_loss" and FLUSHING in self._settings.topic:
                self._tell("waiting until what is flushed is written down")
                path = self._cluster.folder(step.args[0] + NODES) / RECOVERY_POINTS
                done = time.time()
                until(lambda: path.exists() and path.stat().st_mtime > done, FIRST_WRITTEN)  # noqa: B023

    def _await(
        self, wanted: SeenPartition | None, notes: list[str]
    ) -> tuple[How, SeenPartition, SeenPartition | None]:
        """Wait for the expected state; return the result, the state seen, and the one expected."""
        end = time.monotonic() + PATIENCE
        before, since = None, time.monotonic()
        asked = False
        while True:
            self._cluster.check()
            seen = self._seen()
            now = time.monotonic()
            if seen != before:
                before, since = seen, now
            if seen is not None:
                if seen == wanted and self._predicted.allows(seen):
                    return How.AS_THE_RUN, seen, None
                steady = now - since > STEADY
                if now - since > LONGEST and not asked and _lacks_leader(seen, wanted):
                    asked, since = True, now
                    self._have_elected(notes)
                if now - since > LONGEST and not self._predicted.is_known:
                    return How.NOT_COMPARED, seen, None
                if steady and self._predicted.is_settled(seen):
                    how = How.AS_THE_MODEL if wanted is None else How.OTHER_WAY
                    return how, seen, wanted
                if now > end:
                    allowed = self._predicted.allows(seen) and wanted is not None
                    nearest = wanted or self._predicted.nearest(seen)
                    return How.OTHER_WAY if allowed else How.OTHERWISE, seen, nearest
            time.sleep(EVERY)

    def _have_elected(self, notes: list[str]) -> None:
        """Have the controller elect a leader, which it otherwise does only after an event."""
        up = [self._cluster.client(node) for node in self._cluster.brokers if self._cluster.is_up(node)]
        try:
            client.elect(up)
        except client.Unanswered as refused:
            notes.append(
                f"no leader was elected, and when asked to elect one the controller refused: {refused}"
            )
        else:
            notes.append(
                "no leader was elected until the controller was asked to, as kafka-leader-election.sh does"
            )

    def _result(self, ends: tuple[PhaseEnd, ...], began: float) -> Run:
        """The result of the run, from its phases and the final state."""
        seen = ends[-1].cluster if ends else self._seen()
        leader = None if seen is None else (self._seen() or seen).leader
        kept: tuple[int, ...] | None = None
        given: tuple[int, ...] | None = None
        if leader is not None and self._cluster.is_up(leader + NODES):
            given = self._given(leader + NODES)
            kept = self._log(leader + NODES)
        acked = tuple(name for name, sent in self._sent.items() if sent.is_acknowledged)
        return Run(ends, leader, acked, kept, given, time.monotonic() - began)

    def _given(self, node: int) -> tuple[int, ...] | None:
        """The records that a consumer gets from a node; None if it gets none in time."""
        found: list[list[str]] = []

        def reads() -> bool:
            self._cluster.check()
            try:
                found.append(client.read(self._cluster.client(node)))
            except client.Unanswered:
                return False
            return True

        if not until(reads, ANSWERED):
            return None
        return tuple(int(text.removeprefix(RECORD)) for text in found[0] if text.startswith(RECORD))

    # ------------------------------------------------------------------ what is seen

    def _seen(self) -> SeenPartition | None:
        """The state of the partition in the cluster; None if it cannot be read."""
        found = image(self._cluster.folder(CONTROLLER))
        partition = None if found is None else found.at(PLACE)
        if found is None or partition is None:
            return None
        return SeenPartition(
            partition.leader - NODES if partition.leader >= 0 else None,
            frozenset(node - NODES for node in partition.isr),
            frozenset(node - NODES for node in partition.elr),
            frozenset(node - NODES for node in self._cluster.brokers if self._cluster.is_up(node)),
            frozenset(node - NODES for node in unfenced(found) if self._cluster.is_up(node)),
            tuple(self._log(node) for node in self._cluster.brokers),
            frozenset(name for name, sent in self._sent.items() if sent.is_acknowledged),
        )

    def _high_watermarks(self, seen: SeenPartition) -> tuple[HighWatermark, ...]:
        """The high watermarks of running brokers, after waiting for the determined ones."""
        sure = dict(enumerate(self._predicted.high_watermarks(seen)))

        def read() -> tuple[HighWatermark, ...]:
            return tuple(
                HighWatermark(number, sure.get(number), self._high_watermark(number + NODES))
                for number in sorted(seen.up)
            )

        until(lambda: not any(mark.differs for mark in read()), WRITTEN_DOWN)
        return read()

    def _wrong(self, marks: tuple[HighWatermark, ...]) -> tuple[Difference, ...]:
        """The high watermarks that differ from the model's."""
        names = self._predicted.view.names
        return tuple(
            Difference(f"high watermark of {names[mark.broker]}", str(mark.model), str(mark.cluster))
            for mark in marks
            if mark.differs
        )

    def _high_watermark(self, node: int) -> int:
        """A broker's high watermark, in records of the model."""
        return high_watermark(self._cluster.folder(node), PLACE)

    def _log(self, node: int) -> tuple[int, ...]:
        """The records in a broker's log."""
        return tuple(name for name, _ in records(self._cluster.folder(node), PLACE))

    def _unfenced(self) -> frozenset[int]:
        """The brokers with a session."""
        found = image(self._cluster.folder(CONTROLLER))
        return frozenset() if found is None else unfenced(found)

    # ------------------------------------------------------------------ what is done

    def _do(  # noqa: C901 - one case for each kind
        self, step: Step, notes: list[str], *, expects_refusal: bool
    ) -> None:
        """Execute a step on the cluster."""
        cluster = self._cluster
        broker = step.args[0] + NODES
        match step.action:
            case "produce":
                self._produce(broker, notes, expects_refusal=expects_refusal)
            case "consume":
                notes.append(f"a consumer is given {self._given(broker)}")
            case "crash":
                self._kill(broker)
            case "power_loss":
                self._kill(broker)
                notes.append(self._cut_log(broker, step))
            case "disk_loss":
                self._kill(broker)
                cluster.erase(broker)
            case "stopped_disk_loss":
                cluster.erase(broker)
            case "shut_down":
                cluster.stop(broker)
            case "restart" | "start_again":
                cluster.start(broker)
            case "register" | "register_again":
                self._register(broker)
            case "unfence":
                cluster.release(broker, CONTROLLER)
            case "session_loss":
                cluster.cut(broker, CONTROLLER)
            case "reconnect":
                cluster.mend(broker, CONTROLLER)
            case "isolate" | "cut_off":
                self._unlinked.add(broker)
                for other in cluster.brokers:
                    cluster.cut(broker, other)
                if step.action == "cut_off":
                    cluster.cut(broker, CONTROLLER)
                self._write_on(notes)
            case "heal":
                self._unlinked.discard(broker)
                for other in cluster.brokers:
                    if other not in self._unlinked:
                        cluster.mend(broker, other)
            case "move":
                self._order = (broker, *(each for each in self._order if each != broker))
                client.move(
                    [cluster.client(node) for node in cluster.brokers if cluster.is_up(node)], self._order
                )
            case unknown:
                raise AssertionError(unknown)

    def _kill(self, broker: int) -> None:
        """Kill a broker; the next process reaches the controller, even if this one was kept fenced."""
        self._cluster.kill(broker)
        self._cluster.release(broker, CONTROLLER)

    def _register(self, broker: int) -> None:
        """Start a broker, and keep it fenced: it is cut off from the controller once it is registered."""
        folder = self._cluster.folder(CONTROLLER)
        before = registration(image(folder), broker)
        self._cluster.start(broker)

        def registered() -> bool:
            self._cluster.check()
            return registration(image(folder), broker) not in {None, before}

        if not until(registered, STARTING, every=AT_ONCE):
            raise TimeoutError("a broker that was started did not register")
        self._cluster.hold(broker, CONTROLLER)

    def _produce(self, broker: int, notes: list[str], *, expects_refusal: bool) -> None:
        """Send the next record to a broker."""
        name = 1 + (self._predicted.sent if self._predicted.is_known else max(self._sent, default=0))
        sent = client.send(self._cluster.client(broker), [f"{RECORD}{name}"], self._settings.acks)
        if expects_refusal:
            until(lambda: sent.is_answered, ANSWERED)
            answer = sent.refusal or ("acknowledged" if sent.is_acknowledged else "no answer")
            notes.append(f"the model has the producer refused here; the answer: {answer}")
        if not expects_refusal or sent.is_acknowledged:
            self._sent[name] = sent

    def _write_on(self, notes: list[str]) -> None:
        """Send an unrelated record: a leader removes a replica from the ISR only once that lags."""
        seen = self._seen()
        if seen is None or seen.leader is None or not self._cluster.is_up(seen.leader + NODES):
            return
        sent = client.send(self._cluster.client(seen.leader + NODES), [OTHER], 1)
        until(lambda: sent.is_answered, ANSWERED)
        sent.close()
        notes.append("another record is written with acks=1: a leader drops no replica that lacks nothing")

    def _cut_log(self, broker: int, step: Step) -> str:
        """Truncate a log to what is surely on the disk, or to what the run keeps."""
        kept = next((choice.value for choice in step.choices if choice.name == "kept"), 0)
        directory = self._cluster.folder(broker)
        flushed = read_offsets(directory / RECOVERY_POINTS).get(PLACE, 0)
        found = [record for _, record in records(directory, PLACE)]
        if kept >= len(found) > 0:
            return "the run keeps all of its log"
        end = max(flushed, found[kept - 1].offset + 1 if kept else 0)
        cut_log(directory / str(PLACE), end)
        return f"its log is cut to offset {end}; it had written down that it is flushed up to {flushed}"

    def _hold(self, pairs: frozenset[tuple[int, int]]) -> None:
        """Delay the fetches of replicas from leaders."""
        for asking, asked in pairs:
            self._cluster.hold(asking + NODES, asked + NODES)

    def _release(self, pairs: frozenset[tuple[int, int]]) -> None:
        """Let delayed fetches pass."""
        for asking, asked in pairs:
            self._cluster.release(asking + NODES, asked + NODES)


def _lacks_leader(seen: SeenPartition, wanted: SeenPartition | None) -> bool:
    """Whether the run elects a replica that has a session, but there is no leader."""
    return seen.leader is None and wanted is not None and wanted.leader in seen.session


def _name(step: Step, names: tuple[str, ...]) -> str:
    """A step as text, with the cluster's names."""
    return f"{step.action}({', '.join(names[each] for each in step.args if isinstance(each, int))})"
