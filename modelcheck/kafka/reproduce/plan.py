"""The plan for a run on a cluster: the steps done to it, those it takes on its own, and what must wait."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, takewhile

from counterexamples.trace import Trace
from modelcheck.kafka.reproduce.observed_state import View
from spec.frozen import frozen
from spec.meaning.semantics import State, Step
from spec.model.ir import Model

DONE = frozenset(
    "produce consume move shut_down start_again session_loss crash power_loss disk_loss stopped_disk_loss "
    "isolate cut_off restart reconnect heal register register_again unfence".split()
)
BY_ITSELF = frozenset(
    "fetch commit shrink expand elect elect_unclean elect_last_leader give_up fence become_leader learn "
    "become_follower assign_directory find_nobody".split()
)
FALLS = frozenset({"crash", "power_loss", "disk_loss"})
NOT_FORCED = {
    "lose_request": "the link between the producer and the leader cannot be cut",
    "bounce": "the controller of a KRaft cluster notices every restart",
}
NEEDED = frozenset(
    "leader isr eligible acked Broker.log Broker.hw Broker.up Broker.session Broker.linked "
    "Broker.leads".split()
)
MOST_BROKERS = 5


@frozen
class Phase:
    """Steps that are forced on the cluster, and those that it then takes on its own.

    `done` is one step, or none where the run begins with the others; or brokers that go down one after
    the other before anybody notices.  `first` is the number of the first step.
    `held` are pairs: what the first broker asks of the second waits meanwhile.
    """

    first: int
    done: tuple[Step, ...]
    following: tuple[Step, ...]
    after: State
    held: frozenset[tuple[int, int]]


@frozen
class Plan:
    """A run as phases, and the order of replicas that makes the controller elect as in the run."""

    trace: Trace
    phases: tuple[Phase, ...]
    order: tuple[int, ...]


@frozen
class CannotForce:
    """The step of a run that cannot be forced on a cluster, and why; None if it is the whole run."""

    step: int | None
    why: str


def can_drive(model: Model) -> bool:
    """Whether the runs of this model can be tried on a cluster, if their steps can be forced.

    The model has to have the variables in `NEEDED`, and no action other than those listed here.
    """
    variables = {variable.name for variable in model.variables}
    actions = {action.name for action in model.actions}
    return variables >= NEEDED and actions <= DONE | BY_ITSELF | set(NOT_FORCED)


def plan(trace: Trace) -> Plan | CannotForce:
    """The phases of a run, or the step that cannot be forced."""
    view = View(trace.model, trace.scope)
    if len(view.names) > MOST_BROKERS:
        return CannotForce(None, f"{len(view.names)} brokers are more than are started ({MOST_BROKERS})")
    for number, step in enumerate(trace.steps, 1):
        if step.action in NOT_FORCED:
            return CannotForce(number, NOT_FORCED[step.action])
    order = _order(trace, view)
    if isinstance(order, CannotForce):
        return order
    starts = [at for at in range(len(trace.steps)) if at == 0 or _begins(trace.steps, at)]
    phases = []
    for at, end in zip(starts, [*starts[1:], len(trace.steps)], strict=True):
        steps = trace.steps[at:end]
        done = tuple(takewhile(lambda step: step.action in DONE, steps))
        following, after = steps[len(done) :], trace.states[end]
        phases.append(Phase(at + 1, done, following, after, _held(view, after, following)))
    return Plan(trace, tuple(phases), order)


def _begins(steps: Sequence[Step], at: int) -> bool:
    """Whether a step begins a new phase: it is forced, and not together with the one before."""
    together = steps[at - 1].action in FALLS and steps[at].action in FALLS
    return steps[at].action in DONE and not together


def _held(view: View, after: State, following: Sequence[Step]) -> frozenset[tuple[int, int]]:
    """The pairs of replica and leader whose fetches are delayed, to keep records from the replica."""
    seen = view.seen(after)
    leads = view.acting(after) | ({seen.leader} if seen.leader is not None else frozenset())
    joins = {step.args[0] for step in following if step.action == "become_follower"}
    return frozenset(
        (asking, leader)
        for leader in leads
        for asking in range(len(seen.logs))
        if asking != leader
        and asking not in joins
        and seen.logs[asking] != seen.logs[leader]
        and asking in seen.up
    )


def _order(trace: Trace, view: View) -> tuple[int, ...] | CannotForce:
    """An order of replicas by which the controller, which elects the first possible, elects as in the run."""
    first = view.seen(trace.states[0]).leader
    failed = 0
    for order in permutations(range(len(view.names))):
        if order[0] == first:
            wrong = _first_wrong(trace, view, order)
            if wrong is None:
                return order
            failed = max(failed, wrong)
    why = "the controller takes the first in the order of replicas that may lead, in no order this one"
    return CannotForce(failed, why)


def _first_wrong(trace: Trace, view: View, order: tuple[int, ...]) -> int | None:
    """The index of the first election that would differ under this order; None if none does."""
    for number, (step, state) in enumerate(zip(trace.steps, trace.states, strict=False), 1):
        seen = view.seen(state)
        match step.action:
            case "move":
                order = (step.args[0], *(each for each in order if each != step.args[0]))
            case "elect":
                able = (seen.isr & seen.session) or (seen.eligible & seen.session)
                if next((each for each in order if each in able), None) != step.args[0]:
                    return number
            case "elect_unclean":
                if next((each for each in order if each in seen.session), None) != step.args[0]:
                    return number
            case _:
                pass
    return None
