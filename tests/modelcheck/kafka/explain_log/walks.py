"""Random runs of the model, observed as files would show them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from modelcheck.asking.overrides import Overrides, free_check
from modelcheck.kafka.files.metadata.image import MetadataImage
from modelcheck.kafka.files.metadata.records import FeatureLevel
from modelcheck.kafka.incident.explain_log.configuration import model, setting
from modelcheck.kafka.incident.explain_log.metadata_timeline import TopicSettings
from modelcheck.kafka.incident.explain_log.observations import (
    SETTING,
    Back,
    Changed,
    Decided,
    Ended,
    Event,
    Evidence,
    Gone,
    Interval,
    Left,
    LineObservation,
    Observed,
    Registered,
)
from modelcheck.kafka.incident.explain_log.product import REGISTERS, RETURNS, STARTS, ObservationProduct
from modelcheck.kafka.incident.explain_log.run_search import (
    ExplanationLimits,
    ExplanationResult,
    ExplanationSearch,
)
from spec.meaning.semantics import Machine, State, Step, Taken
from spec.model.ir import Scope

SAID = Evidence("a walk", "")
CHANGING = "observed_settings"
NAMES = {variable.name: index for index, variable in enumerate(model().variables)}


@dataclass
class Walk:
    """A run, what files would show of it, and the scope."""

    scope: Scope
    states: list[State]
    steps: list[Step]
    observed: Observed

    @property
    def faults(self) -> int:
        return sum(step.action in model().faults for step in self.steps)


def walk(seed: int, *, brokers: int = 2, length: int = 22, faults: int = 2, changing: bool = False) -> Walk:
    """The run of a seed: sends and fetches come as often as all else, and faults are few.

    With `changing` settings change on the way, now and then.
    """
    random = Random(seed)  # noqa: S311 - no secret
    found_in = model(CHANGING) if changing else model()
    min_isr, behind = random.randint(1, brokers), "_first" * changing
    settings = (
        f"min_isr{behind}={min_isr}",
        f"elr={random.choice(['true', 'false'])}",
        f"unclean{behind}={random.choice(['true', 'false'])}",
        f"acks={random.choice(['one', 'all'])}",
        f"directories={random.choice(['true', 'false'])}",
    )
    bounds = (f"Broker={brokers}", "Epoch=3", "Offset=2", "Record=4")
    scope = free_check(found_in, Overrides(bounds, settings, None, "4.1")).scope
    machine = Machine(found_in, scope)
    states = [random.choice(machine.initial())]
    steps: list[Step] = []
    for _ in range(length):
        spent = sum(step.action in model().faults for step in steps)
        free = frozenset(found_in.free) if random.random() < 0.1 else frozenset(found_in.free) - set(SETTING)
        allowed = None if spent < faults and random.random() < 0.25 else free
        found = [
            each
            for each in machine.steps(states[-1], actions=allowed)
            if isinstance(each, Taken) and not set(each.step.args) & set(range(brokers + 1, 10))
        ]
        if not found:
            break
        taken = random.choice(found)
        steps.append(taken.step)
        states.append(taken.state)
    return Walk(scope, states, steps, _observed(random, scope, states, steps))


def _decided(state: State) -> Decided:
    leader, epoch, isr, eligible = (state[NAMES[name]] for name in ("leader", "epoch", "isr", "eligible"))
    return Decided(leader, epoch, isr, eligible, SAID)


def _observed(random: Random, scope: Scope, states: list[State], steps: list[Step]) -> Observed:
    events: list[Event] = [_decided(states[0])]
    brokers = scope.sorts["Broker"]
    fenced: set[int] = set()
    lost_disk: set[int] = set()
    renewed: set[int] = set()  # those that have lost it, and are not registered with another one yet
    for step, before, after in zip(steps, states, states[1:], strict=False):
        now = _decided(after)
        if step.action in SETTING:
            events.append(Changed(step.action, step.args, SAID))
        if now.control != _decided(before).control:
            events.append(now)
        if step.action in RETURNS | REGISTERS:
            events += _started(random, step, step.args[0] in renewed)
            fenced.discard(step.args[0])
            renewed.discard(step.args[0])
        if step.action in RETURNS:
            lost_disk.discard(step.args[0])
        if step.action == "disk_loss":
            lost_disk.add(step.args[0])
            renewed.add(step.args[0])
        session = after[NAMES["Broker.session"]]
        for broker in range(len(brokers)):
            if not session[broker] and broker not in fenced and random.random() < 0.3:
                fenced.add(broker)
                events.append(Gone(broker, SAID))
    ends = {
        broker: _ended(random, broker, states, broker in lost_disk)
        for broker in range(len(brokers))
        if random.random() < 0.9
    }
    intervals = tuple(Interval(n, n + 1) for n in range(scope.nats["Offset"]))
    return Observed(brokers, tuple(events), ends, intervals, whole=True)


def _started(random: Random, step: Step, renewed: bool) -> Iterator[Event]:  # noqa: FBT001
    """What the metadata log has of a broker that starts or is back; not all readers see registrations."""
    (broker,) = step.args
    known = random.choice([True, False])
    if step.action in REGISTERS or (step.action in {"restart", "start_again"} and known):
        yield Registered(broker, random.choice([None, renewed]), SAID)
    if step.action in RETURNS:
        restarted = step.action != "reconnect"
        yield Back(broker, random.choice([None, renewed]), SAID, restarted if known else None)


def with_logs(taken: Walk, seed: int) -> Observed:
    """What files show of a walk, with a log of each broker: some lines of what was so, and all its starts."""
    random = Random(seed)  # noqa: S311 - no secret
    logs = tuple(tuple(_lines(random, broker, taken)) for broker in range(len(taken.scope.sorts["Broker"])))
    return replace(taken.observed, logs=logs, starts={broker: broker for broker in range(len(logs))})


def _lines(random: Random, broker: int, taken: Walk) -> Iterator[LineObservation]:
    for number, state in enumerate(taken.states):
        step = taken.steps[number - 1] if number else None
        if step is not None and step.action in STARTS and step.args[0] == broker:
            stopped = broker in taken.states[number - 1][NAMES["stopped"]]
            if step.action != "unfence":
                yield LineObservation(broker, SAID, up=False, stopped=stopped, actions=STARTS, ahead=True)
            if step.action not in REGISTERS:
                yield LineObservation(broker, SAID, up=True, actions=STARTS)
        cut = step is not None and step.action == "become_follower" and step.args[0] == broker
        before = len(taken.states[number - 1][NAMES["Broker.log"]][broker]) if number else 0
        length, mark = len(state[NAMES["Broker.log"]][broker]), state[NAMES["Broker.hw"]][broker]
        if cut and length < before:
            yield LineObservation(broker, None, length=(length + 1, 2))
            yield LineObservation(
                broker, SAID, length=(length, length), actions=frozenset({"become_follower"})
            )
        elif random.random() < 0.2:
            known = random.random() < 0.5
            mark, epoch = random.randint(0, mark), random.randint(0, state[NAMES["epoch"]])
            if known and epoch:  # no record in the log is of a later epoch
                epoch = max(epoch, *(entry[0] for entry in state[NAMES["Broker.log"]][broker]), 0)
            yield LineObservation(
                broker, SAID, length=(length, length) if known else None, mark=mark, epoch=epoch
            )


def long_log(rounds: int) -> Observed:
    """A long history of which a follower's log has each start, and the leader's each change of the ISR."""
    observed = long_history(rounds)
    followers = {1: list[LineObservation](), 2: list[LineObservation]()}
    for number in range(rounds):
        broker = 1 + number % 2
        followers[broker] += [
            LineObservation(broker, SAID, up=False, stopped=True, actions=STARTS, ahead=True),
            LineObservation(broker, SAID, up=True, actions=STARTS),
        ]
    leader = [
        LineObservation(0, SAID, mark=1 if position > 9 else 0, epoch=1, position=position)
        for position in range(1, len(observed.events))
    ]
    logs = (tuple(leader), *map(tuple, followers.values()))
    return replace(observed, logs=logs, starts={1: 1, 2: 2})


def _ended(random: Random, broker: int, states: list[State], lost: bool) -> Ended:  # noqa: FBT001
    last = states[-1]
    log = tuple(entry[0] for entry in last[NAMES["Broker.log"]][broker])
    mark = random.choice(states)[NAMES["Broker.hw"]][broker]
    left = Left.UNKNOWN
    if not last[NAMES["Broker.up"]][broker] and broker not in last[NAMES["registered"]]:
        left = Left.CLEAN if broker in last[NAMES["stopped"]] else Left.UNCLEAN
    return Ended(broker, log, mark, left, not lost, SAID, SAID, SAID)


def long_history(rounds: int) -> Observed:
    """Two followers of three that leave the ISR and come back, by turns."""
    whole = frozenset({0, 1, 2})
    events: list[Event] = [Decided(0, 1, whole, frozenset(), SAID)]
    for number in range(rounds):
        broker = 1 + number % 2
        events.append(Decided(0, 1, whole - {broker}, frozenset(), SAID))
        started = Registered(broker, new_directory=False, evidence=SAID)
        back = Back(broker, new_directory=False, evidence=SAID, restarted=True)
        events += [Gone(broker, SAID), started, back]
        events.append(Decided(0, 1, whole, frozenset(), SAID))
    ends = {
        n: Ended(
            n, (1, 1), 1, Left.UNKNOWN, folder=True, log_evidence=SAID, mark_evidence=SAID, left_evidence=SAID
        )
        for n in whole
    }
    return Observed(("b1", "b2", "b3"), tuple(events), ends, (Interval(0, 1), Interval(1, 2)), whole=True)


LIMIT = 4_000  # points of a search; some runs need more, and say nothing here
OF_4_1 = {"metadata.version": 27}


def silent(*_: int) -> None:
    """No progress is shown."""


def searched(
    taken: Observed,
    first: TopicSettings = TopicSettings(),  # noqa: B008 - it is frozen
    features: Mapping[str, int] = OF_4_1,
) -> tuple[ObservationProduct, ExplanationResult]:
    """The product of what files of a cluster with such features show, and what a search of it finds."""
    image = MetadataImage()
    for name, level in features.items():
        image.apply(FeatureLevel(name, level))
    made = setting(taken, image, first, "all")
    product = ObservationProduct(made.model, made.scope, taken)
    return product, ExplanationSearch(product, ExplanationLimits(states=LIMIT), silent).run()


SETTLING = (
    "become_leader", "become_follower", "learn", "commit", "fetch", "expand", "elect", "fence",
)  # fmt: skip


class AsItEnds(Random):
    """Chooses what files show of an orderly cluster: each lost session and start, and the last of each."""

    def random(self) -> float:
        return 0.0

    def choice(self, seq: Any) -> Any:  # noqa: ANN401 - as its base class has it
        return True if True in seq else seq[-1]


CUTS = {"cut": "isolate", "cut_off": "cut_off"}


def aged(seed: int, rounds: int, kinds: Sequence[str]) -> Walk:
    """A cluster of three brokers after so many rounds: a record, then something of these kinds.

    `restart` shuts the leader down and starts it again, `follower` does so with a follower while a record
    is sent, `crash` takes any broker, `move` moves the leadership, `cut` cuts off a follower that stays
    registered while a record is sent, and `cut_off` one that loses its session.
    """
    random = Random(seed)  # noqa: S311 - no secret
    bounds = ("Broker=3", f"Epoch={2 * rounds + 2}", f"Offset={2 * rounds}", f"Record={2 * rounds}")
    settings = ("min_isr=2", "elr=false", "unclean=false", "acks=all")
    scope = free_check(model(), Overrides(bounds, settings, None, "4.1")).scope
    machine = Machine(model(), scope)
    states, steps = [machine.initial()[0]], list[Step]()

    def take(action: str, *args: int) -> bool:
        for found in machine.steps(states[-1], actions=frozenset({action})):
            if isinstance(found, Taken) and found.step.args[: len(args)] == args:
                steps.append(found.step)
                states.append(found.state)
                return True
        return False

    def settle() -> None:
        while any(map(take, SETTLING)):
            pass

    def leader() -> int:
        found: int = states[-1][NAMES["leader"]]
        return found

    settle()
    for _ in range(rounds):
        take("produce", leader())
        settle()
        follower = random.choice([broker for broker in range(3) if broker != leader()])
        kind = random.choice(kinds)
        broker = {"restart": leader(), "crash": random.choice([leader(), follower])}.get(kind, follower)
        if kind == "move":
            take("move", broker)
        elif kind in CUTS:
            take(CUTS[kind], broker)
            settle()
            take("produce", leader())
            settle()
            take("heal", broker)
            take("reconnect", broker)
        else:
            take("crash" if kind == "crash" else "shut_down", broker)
            settle()
            if kind == "follower":
                take("produce", leader())
                settle()
            take("restart" if kind == "crash" else "start_again", broker)
        settle()
    return Walk(scope, states, steps, _observed(AsItEnds(seed), scope, states, steps))
