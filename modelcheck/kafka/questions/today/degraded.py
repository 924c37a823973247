"""A partition in a state that a file shows, as a model: `spec/protocols/kafka_degraded.rsm`.

NOTE(today): kafka-topics shows who leads and who is in sync, and not which records the other replicas
have, nor whether an offline replica still has its disk.  The model begins in every state that looks like
the one shown, so an answer is that of the worst of them.  With `kept` what is offline has all that it had.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import spec.library as library
import spec.model.ir as ir
from counterexamples.trace import Trace
from modelcheck.kafka.questions.partition import MOST_BROKERS, MOST_MOVES, PartitionModel, counted_min_isr
from modelcheck.kafka.settings.resolution.partition_states import PartitionState
from spec.load import loads

_LAST = {None: "unknown", True: "in_the_elr", False: "outside"}


def can_ask(state: PartitionState) -> bool:
    """Whether the model has room for the replicas of a partition."""
    return len(state.replicas) <= MOST_BROKERS


def degraded(
    subject: PartitionModel, state: PartitionState, *, kept: bool, stuck: bool = True
) -> PartitionModel:
    """The partition of a review in a state that a file shows, with its own replicas.

    Replicas that run and are not in sync do not catch up with a leader where they are `stuck`.
    """
    models = _models()
    many = len(state.replicas)
    strict = bool(subject.config["strict_min_isr"])
    last = state.last_leader
    runs = set(state.running)
    config: dict[str, str | int | bool] = {
        **subject.config,
        "min_isr": counted_min_isr(subject.in_sync_wanted, many, strict=strict),
        "elr": bool(subject.config["elr"] or state.elr),
        "moves": min(int(subject.config["moves"]), MOST_MOVES) if many > 1 else 0,
        "led": state.leader is not None,
        "in_sync": len(state.isr),
        "in_elr": len(state.elr),
        "last_leader": _LAST[None if last is None else last in state.elr],
        "running": len(runs & {*state.outside}),
        "elr_running": len(runs & {*state.elr}),
        "stuck": stuck and state.leader is not None,
        "disks_kept": kept,
    }
    names = tuple(f"broker{node}" for node in state.replicas)
    return replace(
        subject, model=models["degraded"], unattended=models["degraded_alone"], names=names, config=config
    )


@cache
def _models() -> Mapping[str, ir.Model]:
    """The models of a partition that is not well, by name."""
    found = loads(library.text("kafka_degraded"), "kafka_degraded.rsm", only=("degraded", "degraded_alone"))
    return {model.name: model for model in found}


def with_true_names(trace: Trace, state: PartitionState) -> Trace:
    """The run with the names of the brokers that have the roles of its first state in the partition."""
    values = dict(zip((each.name for each in trace.model.variables), trace.states[0], strict=True))
    up = values["Broker.up"]

    def role_in_run(place: int) -> tuple[bool, ...]:
        """The role of a broker in the first state of the run."""
        return (
            place == values["leader"],
            place in values["isr"],
            place in values["eligible"],
            place == values["led_last"],
            bool(up[place]),
        )

    def role_shown(node: int) -> tuple[bool, ...]:
        """The role of a replica in the partition."""
        leads = node == state.leader
        in_sync = node in state.isr
        runs = node in state.running or (in_sync and state.leader is not None)
        return (leads, in_sync, node in state.elr, node == state.last_leader, runs)

    places = sorted(range(len(state.replicas)), key=role_in_run)
    nodes = sorted(state.replicas, key=role_shown)
    names = {place: f"broker{node}" for place, node in zip(places, nodes, strict=True)}
    members = tuple(names[place] for place in sorted(names))
    scope = trace.scope
    return replace(trace, scope=replace(scope, sorts={**scope.sorts, "Broker": members}))
