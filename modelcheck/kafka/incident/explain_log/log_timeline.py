"""Lines of logs as the spine, where there is no metadata log: the controller's decisions that they show.

Every change of a partition has a number, its partition epoch (with ZooKeeper: the zkVersion of its state),
which rises by one, so states that different brokers have written are put in order by it, never by clocks.
A change that is in no line is a gap, and is reported; when brokers came back is known by their own logs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from modelcheck.kafka.files.checkpoints import TopicPartition
from modelcheck.kafka.files.messages.lines import LogLine
from modelcheck.kafka.files.messages.templates import Says
from modelcheck.kafka.files.metadata.image import MetadataImage
from modelcheck.kafka.incident.explain_log.logs import Logs, short_name
from modelcheck.kafka.incident.explain_log.metadata_timeline import Spine
from modelcheck.kafka.incident.explain_log.observations import Coverage, Decided, Evidence
from spec.frozen import frozen

NAMED = 3  # gaps that are named


@frozen
class _State:
    """A partition's state at one version, as far as lines show it; None is unknown."""

    line: LogLine
    leader: int | None = None
    epoch: int | None = None
    isr: tuple[int, ...] | None = None


def spine_of_lines(logs: Logs, place: TopicPartition) -> Spine | None:
    """The controller's decisions on a partition, from the lines of all logs; None if they are too few.

    Too few means that no state has its number, its leader and its ISR.
    """
    lines = [line for log in logs.logs for line in log.lines(place) if line.place == place]
    states = _states(logs, place)
    first = next(
        (n for n, state in states.items() if state.isr is not None and state.epoch is not None), None
    )
    if first is None:
        return None
    brokers = _brokers(lines)
    events: list[Decided] = []
    epochs: list[tuple[int, int]] = []
    versions: dict[int, int] = {}
    before = states[first]
    last = before.epoch or 0
    for version, state in states.items():
        if version < first:
            continue
        now = _filled(state, before)
        elected = not epochs or (
            now.epoch != before.epoch
            and now.leader is not None
            and now.leader >= 0
            and (now.leader != before.leader or now.isr == before.isr)
        )
        if elected:
            epochs.append((now.epoch or 0, len(epochs) + 1))
        found = _decided(now, brokers, epochs[-1][1], version)
        if not events or found.control != events[-1].control:
            events.append(found)
        versions[version] = len(events)
        before, last = now, max(last, now.epoch or 0)
    return Spine(
        brokers,
        tuple(events),
        tuple(epochs),
        last,
        MetadataImage(),
        Coverage(0, 0, 0),
        first == 0,
        tuple(_notes(versions)),
        versions,
        sessions=False,
    )


def _states(logs: Logs, place: TopicPartition) -> Mapping[int, _State]:
    """The partition's states by version, each merged from all lines about it."""
    found: dict[int, _State] = {}
    for log in logs.logs:
        epoch: int | None = None  # in which the broker that writes leads
        for line in log.lines(place):
            if line.says is Says.LEADS:
                epoch = line.value("epoch")
            version = line.value("version")
            if line.place != place or version is None or line.says is Says.STALE:
                continue
            leader = line.value("leader")
            of_leader = line.says in {Says.LEADS, Says.ISR}
            said = _State(
                line,
                log.node if of_leader and line.node is None else line.node if of_leader else leader,
                line.value("epoch") if line.says is not Says.ISR else epoch,
                line.numbers("isr"),
            )
            found[version] = _filled(found.get(version, said), said)
    return dict(sorted(found.items()))


def _filled(state: _State, other: _State) -> _State:
    """The state with unknown parts taken from another."""
    return replace(
        state,
        leader=other.leader if state.leader is None else state.leader,
        epoch=other.epoch if state.epoch is None else state.epoch,
        isr=other.isr if state.isr is None else state.isr,
    )


def _brokers(lines: Iterable[LogLine]) -> tuple[int, ...]:
    """The replicas that lines name."""
    found: set[int] = set()
    for line in lines:
        found |= {*(line.numbers("replicas") or ()), *(line.numbers("isr") or ())}
        found |= {*(line.numbers("before") or ())} | ({line.node} if line.node is not None else set())
    return tuple(sorted(found))


def _decided(state: _State, brokers: tuple[int, ...], epoch: int, version: int) -> Decided:
    """The observation of a partition state."""
    leader = brokers.index(state.leader) if state.leader in brokers else None
    isr = frozenset(brokers.index(each) for each in state.isr or () if each in brokers)
    who = "no broker leads" if leader is None else f"broker {state.leader} leads"
    says = f"{who} in epoch {state.epoch}, in sync {list(state.isr or ())}, partition epoch {version}"
    return Decided(
        leader, epoch, isr, frozenset(), Evidence(f"{short_name(state.line.path)}:{state.line.number}", says)
    )


def _notes(versions: Mapping[int, int]) -> Iterable[str]:
    """Notes for the report on what is missing without the metadata log."""
    yield (
        "There is no metadata log: what the controller decided is from lines of logs, in the order of"
        " partition epochs; settings of the topic are not known, and changes that are in no line are missing."
    )
    known = sorted(versions)
    gaps = [n for n in range(known[0], known[-1]) if n not in versions]
    if gaps:
        named = ", ".join(map(str, gaps[:NAMED])) + (", …" if len(gaps) > NAMED else "")
        yield (
            f"{len(gaps):,} changes are in no line (partition epochs {named});"
            " if no run explains the files, that may be why."
        )
