"""A run that explains files, as a story: each step with its evidence, what broke, and what is lost."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from counterexamples.certify import certify
from counterexamples.trace import Stops, Trace
from modelcheck.kafka.incident.explain_log.configuration import Setting
from modelcheck.kafka.incident.explain_log.evidence import lines_by_step
from modelcheck.kafka.incident.explain_log.kills import Kills, kills, with_kills
from modelcheck.kafka.incident.explain_log.observations import Ended, Evidence, Interval, Observed
from modelcheck.kafka.incident.explain_log.product import FALLS, SENDS, ObservationProduct, Point
from modelcheck.kafka.incident.explain_log.run_search import Explained
from spec.frozen import frozen
from spec.meaning.semantics import Machine, State, Step

FIRST_EPOCH = 1  # of the model
LOSSES = ("acknowledged_survive", "committed_on_leader", "acknowledged_kept", "committed_kept")


@frozen
class Loss:
    """A property violated by a step, the records lost by it, and the brokers that have them in the end."""

    property: str
    step: int
    records: tuple[int, ...]
    holders: tuple[str, ...]


@frozen
class Story:
    """An explained run: the evidence of each step, the offsets of each record, and the losses.

    `kills` are the clean stops that can be kills.  `endangered` are promised records that in the end no
    broker has that may be elected, and `holders` the brokers that have any of these.
    """

    trace: Trace
    evidence: tuple[tuple[Evidence, ...], ...]
    records: Mapping[int, Interval]
    losses: tuple[Loss, ...]
    endangered: tuple[int, ...]
    holders: tuple[str, ...]
    kills: Kills

    @property
    def gone(self) -> tuple[int, ...]:
        """The promised records that no broker has in the end."""
        kept = (loss for loss in self.losses if loss.property.endswith("_kept") and not loss.holders)
        return tuple(sorted({record for loss in kept for record in loss.records}))


def story(product: ObservationProduct, setting: Setting, found: Explained, name: str) -> Story:
    """The run with shutdowns and faults as late as the files allow, replayed, with its evidence."""
    run = late(product, found)
    states = tuple(point.state for point in run.points)
    trace = certify(Trace(setting.model, setting.scope, states, run.steps, Stops(), check=name)).trace
    records = dict(_records(product, run))
    written = lines_by_step(product, run)
    evidence = tuple(_once((*found, *written[step])) for step, found in enumerate(_evidence(product, run)))
    losses = tuple(_losses(product, setting, states))
    before = frozenset[int]().union(*(_promised_before(product, state) for state in states))
    endangered = _endangered(product, states[-1], before)
    holders = tuple(_having(product, endangered, states[-1]))
    return Story(trace, evidence, records, losses, endangered, holders, kills(product, run))


def likelier(
    product: ObservationProduct, setting: Setting, found: Explained, told: Story, name: str
) -> Story | None:
    """The same story with kills in place of the clean stops that the files speak against, if any."""
    run = with_kills(product, late(product, found), told.kills.likely)
    return None if run is None else story(product, setting, run, name)


def late(product: ObservationProduct, found: Explained) -> Explained:
    """The run with each step that takes a broker down as late as possible, next to its evidence."""
    points, steps = list(found.points), list(found.steps)
    actions = product.faults | {"shut_down"}
    for first in reversed(range(len(steps))):
        at = first
        while at + 1 < len(steps) and steps[at].action in actions:
            swapped = _swapped(product, points[at], steps[at], steps[at + 1], points[at + 2])
            if swapped is None:
                break
            points[at + 1] = swapped
            steps[at], steps[at + 1] = steps[at + 1], steps[at]
            at += 1
    return Explained(tuple(points), tuple(steps))


def _swapped(product: ObservationProduct, point: Point, first: Step, second: Step, to: Point) -> Point | None:
    """The point between two steps in the other order, if that leads to the same point; else None."""
    for between in _after(product, point, second):
        if to in _after(product, between, first):
            return between
    return None


def _after(product: ObservationProduct, point: Point, step: Step) -> list[Point]:
    """The points that a step leads to."""
    return [after for taken, after in product.next(point, frozenset({step.action})) if taken == step]


# ------------------------------------------------------------------ what it rests on


def _records(product: ObservationProduct, run: Explained) -> Iterator[tuple[int, Interval]]:
    """Each record of the model, by name, with the offsets that it represents."""
    for step, point in zip(run.steps, run.points[1:], strict=True):
        if step.action in SENDS:
            log = product.logs(point.state)[step.args[0]]
            yield log[-1][1], product.observed.intervals[len(log) - 1]


def _evidence(product: ObservationProduct, run: Explained) -> Iterator[tuple[Evidence, ...]]:
    """For each step the observations that it explains; those of the start are with the first."""
    observed = product.observed
    for number, step in enumerate(run.steps):
        before, after = run.points[number : number + 2]
        first = 0 if number == 0 else before.position
        found = [event.evidence for event in observed.events[first : after.position]]
        if step.action in SENDS:
            log = product.logs(after.state)[step.args[0]]
            found += _holders(observed, len(log), log[-1][0])
        for broker, end in observed.ends.items():
            if (after.marked & ~before.marked) >> broker & 1 and end.mark:
                found.append(end.mark_evidence)
        if step.action in FALLS and not _falls_again(run, number, step.args[0]):
            last = observed.ends.get(step.args[0])
            found += [] if last is None else _left(last)
        yield tuple(dict.fromkeys(found))


def _once(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """The evidence without repeated lines."""
    found: dict[str, Evidence] = {}
    for each in evidence:
        found.setdefault(each.place if ".log" in each.place else str(each), each)
    return tuple(found.values())


def _holders(observed: Observed, place: int, epoch: int) -> Iterator[Evidence]:
    """The brokers that have a record in the end, as evidence."""
    for end in observed.ends.values():
        if end.log is not None and len(end.log) >= place and end.log[place - 1] == epoch:
            yield Evidence(end.log_evidence.place, f"has {observed.intervals[place - 1]}")


def _left(end: Ended) -> list[Evidence]:
    """The evidence of how a broker's directory was left."""
    return [end.left_evidence, end.log_evidence]


def _falls_again(run: Explained, number: int, broker: int) -> bool:
    """Whether a broker goes down in a later step."""
    return any(step.action in FALLS and step.args[0] == broker for step in run.steps[number + 1 :])


# ------------------------------------------------------------------ what is lost


def _losses(product: ObservationProduct, setting: Setting, states: Sequence[State]) -> Iterator[Loss]:
    """For each violated property the first step that violates it, with the records lost.

    Of what is in no log, all that is lost in the end: a later step may lose more of it.
    """
    before = list(accumulate((_promised_before(product, state) for state in states), operator.or_))
    for name in LOSSES:
        bad = [
            number
            for number, state in enumerate(states)
            if not _holds(product.machine, setting, name, state)
            or (before[number] and lacking(product, name, state, before[number]))
        ]
        if bad:
            told = len(states) - 1 if name.endswith("_kept") else bad[0]  # what no log has never comes back
            records = lacking(product, name, states[told], before[told])
            yield Loss(name, bad[0], records, tuple(_having(product, records, states[-1])))


def _promised_before(product: ObservationProduct, state: State) -> frozenset[int]:
    """The records in a state that count as promised, as they may be older than the part that is explained."""
    logs, first = product.logs(state), product.observed.promised
    return frozenset(entry[1] for log in logs for entry in log[:first] if entry[0] == FIRST_EPOCH)


def _holds(machine: Machine, setting: Setting, name: str, state: State) -> bool:
    """Whether a property is true in a state."""
    return machine.holds(setting.model.property(name), state)


def _endangered(product: ObservationProduct, state: State, before: frozenset[int]) -> tuple[int, ...]:
    """The acknowledged or committed records that no in-sync or eligible replica has."""
    promised = state[product.at("acked")] | state[product.at("committed")] | before
    logs, may_lead = product.logs(state), state[product.at("isr")] | state[product.at("eligible")]
    return tuple(sorted(promised - {entry[1] for broker in may_lead for entry in logs[broker]}))


def _having(product: ObservationProduct, records: Sequence[int], state: State) -> Iterator[str]:
    """The brokers that have any of the records."""
    for name, log in zip(product.observed.brokers, product.logs(state), strict=True):
        if {entry[1] for entry in log} & set(records):
            yield name


def lacking(
    product: ObservationProduct, name: str, state: State, before: frozenset[int] = frozenset()
) -> tuple[int, ...]:
    """The records that a property promises, or were promised `before`, and that are missing in a state."""
    promised = before | state[product.at("acked" if name.startswith("acknowledged") else "committed")]
    logs = product.logs(state)
    leader = state[product.at("leader")]
    of = list(logs)
    if name in {"acknowledged_survive", "committed_on_leader"}:
        if leader is None or not state[product.at("Broker.up")][leader]:
            return ()
        of = [logs[leader]]
    return tuple(sorted(promised - {entry[1] for log in of for entry in log}))
