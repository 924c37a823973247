"""Asks what works while brokers are down: the fewest that stop a service, and whether their return mends it.

NOTE(outage): brokers go down by one kind of fault, in any order and at any time, without
repairs: `unattended`.  The search goes by fewest faults, so one search decides for every number of
brokers whether the service continues.  A partition is electable where it would be writable for a
producer that does not wait for replicas (`acks=1`): without records the model reads `acks` nowhere
else, so both questions have one kernel.  It is readable where it is electable, and no such faults
lose acknowledged records.  Then the same is asked where brokers come back.  Where each takes a controller
with it, the models are those of NOTE(combined).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import spec.model.ir as ir
from counterexamples.trace import Trace
from modelcheck.contract.result import Holds, Violated
from modelcheck.kafka.questions.answers import Answer, ask
from modelcheck.kafka.questions.outages.combined import ACKNOWLEDGES, LED, Combined, combined
from modelcheck.kafka.questions.outages.findings import Outage, Service, Stop
from modelcheck.kafka.questions.partition import PartitionModel
from modelcheck.kafka.questions.question import (
    GUARANTEES,
    KINDS,
    FaultKind,
    Posed,
    Question,
    as_check,
    posed,
    varying_family,
)
from modelcheck.kafka.questions.search import Asking
from modelcheck.kafka.settings.resolution.voters import Voters
from spec.frozen import frozen
from spec.meaning.semantics import CutOff, Machine, State

PATIENCE = 4_000  # states that are looked at for who has to come back
MOST_RETURNING = 5  # brokers for which it is asked whether their return mends all: six are millions of states
SMALL = 2  # brokers: some hundred states
MOST_BY_HAND = 3  # brokers that take controllers with them: some hundred states
MOST_LOSING = 3  # and for which it is asked whether they lose records, beyond the faults of the review
_WRITABLE = next(each for each in GUARANTEES if each.name == "writable")
_DURABLE = next(each for each in GUARANTEES if each.name == "durable")
_RETURNS = {"restart", "vote_again"}  # of a broker, and of the controller that is on its node
# Nothing is written to ask what can be, so nothing is copied; nothing else goes wrong or is planned.
_IDLE = frozenset(
    {
        "produce",
        "consume",
        "lose_request",
        "fetch",
        "commit",
        "reconnect",
        "heal",
        "move",
        "shut_down",
        "start_again",
    }
)


@frozen
class _ServiceQuestion:
    """A service as a property, with the models to check it on.

    In `alone` brokers that are down stay down, in `back` they return.  `shares` is whether both are
    models of the review, so that a kernel is shared with others.
    """

    name: str
    alone: PartitionModel
    back: PartitionModel
    property: str
    shares: bool


def outage(
    asking: Asking, partition: PartitionModel, answers: tuple[Answer, ...], voters: Voters | None = None
) -> Outage:
    """The services that work while brokers are down; `answers` are those of the review.

    Costs four searches without records, with two kernels, one of which the review has anyway.
    """
    kind = _kind(partition)
    nodes = combined(partition, voters)
    writable, electable = (
        _service(asking, partition.replicas, kind, each) for each in _both(partition, kind, nodes)
    )
    readable = _readable(asking, partition, electable, kind, answers)
    services = (writable, electable, readable)
    return Outage(partition.names, kind.name, services, controllers_too=nodes is not None)


def coming(partition: PartitionModel, voters: Voters | None = None) -> tuple[Posed, ...]:
    """The searches of `outage` that need a kernel, to compile them ahead."""
    if not SMALL < partition.replicas <= MOST_RETURNING:
        return ()
    kind = _kind(partition)
    writable, _ = _both(partition, kind, combined(partition, voters))
    return (_posed(writable, writable.back, kind, partition.replicas, unattended=False),)


def _both(
    partition: PartitionModel, kind: FaultKind, nodes: Combined | None
) -> tuple[_ServiceQuestion, _ServiceQuestion]:
    """The questions whether writes are acknowledged, and whether some replica leads."""
    if nodes is not None:
        back = replace(nodes.partition, model=_returning(nodes.partition.model, kind))
        writes = ACKNOWLEDGES if partition.config["acks"] == "all" else LED
        return (
            _ServiceQuestion("writable", nodes.partition, back, writes, shares=False),
            _ServiceQuestion("electable", nodes.partition, back, LED, shares=False),
        )
    back = replace(partition, model=_returning(partition.model, kind))
    (writable,) = _WRITABLE.properties
    return (
        _ServiceQuestion("writable", partition, back, writable, shares=True),
        _ServiceQuestion("electable", _led(partition), _led(back), writable, shares=True),
    )


def _kind(partition: PartitionModel) -> FaultKind:
    """The mildest kind of fault that takes a broker down: its log survives, if it has a disk."""
    wanted = "disk" if partition.ephemeral else "crash"
    return next(kind for kind in KINDS if kind.name == wanted)


def _led(partition: PartitionModel) -> PartitionModel:
    """The partition with a producer that needs only a leader."""
    return replace(partition, config={**partition.config, "acks": "one"})


def _returning(model: ir.Model, kind: FaultKind) -> ir.Model:
    """The model in which brokers go down by one kind of fault and return.

    It is smaller, so its kernel is made in half the time.
    """
    actions = tuple(
        action
        for action in model.actions
        if action.name not in _IDLE and (not action.is_fault or action.name == kind.fault)
    )
    return replace(model, name="returning", actions=actions)


# ------------------------------------------------------------------ one service


def _service(asking: Asking, most: int, kind: FaultKind, asked: _ServiceQuestion) -> Service:
    """The availability of a service that depends only on the leader and the ISR."""
    sure, run = _went(asking, asked, most, kind, unattended=True)
    returns = None
    if most <= MOST_RETURNING:
        mended, broken = _went(asking, asked, most, kind, unattended=False)
        returns = False if broken is not None else True if mended >= most else None
    stop = None if run is None else Stop(run.faults, run, _until(asked, run))
    return Service(asked.name, sure, stop, returns)


def _went(
    asking: Asking, asked: _ServiceQuestion, most: int, kind: FaultKind, *, unattended: bool
) -> tuple[int, Trace | None]:
    """The brokers down with which the service surely works, and the first run that stops it."""
    about = asked.alone if unattended else asked.back
    posed_ = _posed(asked, about, kind, most, unattended=unattended)
    is_small = (most <= SMALL and not (unattended and asked.shares)) or (
        unattended and not asked.shares and most <= MOST_BY_HAND
    )
    what = f"{asked.name}{'' if unattended else ', when brokers return,'} while brokers are down"
    found = asking.found(posed_, what, small=is_small)
    match None if found is None else found.verdicts[asked.property]:
        case Holds(beyond=0):
            return most, None
        case Violated(trace=Trace() as trace):
            return trace.faults - 1, trace
        case _:
            return -1, None


def _posed(
    asked: _ServiceQuestion, about: PartitionModel, kind: FaultKind, most: int, *, unattended: bool
) -> Posed:
    """The search whether a service stops while at most `most` brokers are down."""
    guarantee = replace(_WRITABLE, properties=(asked.property,), unattended=unattended)
    question = Question((guarantee,), kind.name, ir.Budget(most, {kind.fault: None}))
    if not asked.shares:
        return Posed(question, *as_check(about, question), None)
    family = varying_family(about, (guarantee,), {each.fault: 1 for each in KINDS})
    return posed(about, question, family)


def _readable(
    asking: Asking,
    partition: PartitionModel,
    electable: Service,
    kind: FaultKind,
    answers: tuple[Answer, ...],
) -> Service:
    """The availability of reads: a leader exists and no record is lost, as far as was tried."""
    most = partition.replicas
    found = next((a for a in answers if a.guarantee == _DURABLE and a.kind == kind.name), None)
    if found is not None and found.survives(most) is None and most <= MOST_LOSING:
        question = Question((_DURABLE,), kind.name, ir.Budget(most, {kind.fault: None}))
        (found,) = ask(asking, partition, question)
    readable = replace(electable, name="readable")
    if found is None:
        return readable
    lost = found.loss if found.loss is not None and found.loss.faults <= most else None
    if lost is not None and lost.faults <= electable.sure:
        sure = lost.faults - 1 if found.is_exact else -1
        return Service("readable", sure, Stop(lost.faults, lost), None, whole=False)
    if lost is not None:
        return replace(readable, returns=None, whole=False)
    if found.survived is None or found.survived >= most:
        return readable
    returns = None if readable.returns else readable.returns
    return replace(readable, sure=min(found.survived, electable.sure), returns=returns)


# ------------------------------------------------------------------ who has to come back


def _until(asked: _ServiceQuestion, run: Trace) -> tuple[tuple[int, ...], ...] | None:
    """The minimal sets of brokers whose return restores the service after a run; None if unknown."""
    back = asked.back
    machine = Machine(back.model, run.scope)
    claim = back.model.property(asked.property)
    end = run.states[-1]
    down = [step.args[0] for step in run.steps if step.action in back.model.faults]
    left = PATIENCE
    for many in range(1, len(down) + 1):
        found = []
        for who in combinations(sorted(set(down)), many):
            for state in _futures(machine, end, frozenset(who)):
                left -= 1
                if state is None or left < 0:
                    return None
                if machine.holds(claim, state):
                    found.append(who)
                    break
        if found:
            return tuple(found)
    return ()


def _futures(machine: Machine, state: State, who: frozenset[object]) -> Iterator[State | None]:
    """The states reachable by actions and returns of these brokers; None for one beyond the scope."""
    seen, queue = {state}, [state]
    free = set(machine.model.free)
    for here in queue:
        yield here
        for step in machine.steps(here, actions=free):
            if isinstance(step, CutOff):
                yield None
            elif (step.step.action not in _RETURNS or step.step.args[0] in who) and step.state not in seen:
                seen.add(step.state)
                queue.append(step.state)
