"""A reviewed configuration as a model: `spec/protocols/kafka.rsm` with its switches set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

import spec.model.ir as ir
from modelcheck.kafka.settings.keys.releases import ACKS, kafka, value_of
from modelcheck.kafka.settings.resolution.settings import Settings
from modelcheck.kafka.settings.resolution.switches import BrokerStorage, Flush, Truncation
from spec.frozen import frozen

MOST_BROKERS = 7
_MOST_WANTED = 9  # in-sync replicas in the model: more than there can be
_MOST_MISSING = 3  # replicas, where there are more than are modelled
# Followers that cut their logs to their own high watermark lose acknowledged records by three moves and no
# fault, and by two they do not; `python -m tests.scopes` asks with a fourth.
MOST_MOVES = 3
# What the controller does to the leadership, by the names of the model.
LEADER_CHANGES = frozenset({"move", "elect", "elect_unclean", "elect_last_leader"})
# A review asks what goes wrong, and a rolling restart is nothing wrong: these are the same in all questions.
UNASKED: Mapping[str, str | int | bool] = {"rolls": 0, "clean_restart_known": True}
_TRUNCATION = {
    Truncation.HIGH_WATERMARK: "own_high_watermark",
    Truncation.KIP_101: "kip_101",
    Truncation.KIP_279: "kip_279",
}


@frozen
class PartitionModel:
    """The model of one partition with a configuration.

    `names` are the brokers with a replica; `config` has a value for each switch
    by the names of the model (members of enums by name); `approximations` list
    in words where the model is coarser than the configuration.  `in_sync_wanted` is
    `min.insync.replicas` before a release bounds it by the number of replicas.
    """

    model: ir.Model
    unattended: ir.Model
    names: tuple[str, ...]
    config: Mapping[str, str | int | bool]
    ephemeral: bool
    approximations: tuple[str, ...]
    in_sync_wanted: int

    @property
    def replicas(self) -> int:
        """The number of replicas."""
        return len(self.names)

    @property
    def moves(self) -> int:
        """The number of leadership transfers considered without faults."""
        return int(self.config["moves"])

    @property
    def moves_among_faults(self) -> int:
        """The number of leadership transfers considered with faults; 0 if irrelevant.

        A rebalance does not wait until the cluster is well.  Followers that cut their logs by KIP-279, and
        join the ISR only in the epoch of their leader (KAFKA-7128), lose nothing more by it.  Where they do
        not wait for the epoch, one move is as bad as two, and three are too many states to try.
        `python -m tests.scopes` asks for more moves.
        """
        if self.config["truncation"] != _TRUNCATION[Truncation.KIP_279]:
            return self.moves
        return 0 if self.config["epoch_reached"] else min(1, self.moves)

    def scope(self, records: int, moves: int = 0) -> ir.Scope:
        """Bounds for numbers of records and of moves of leadership; there may be any number of elections.

        No log is longer than there are records.
        """
        nats = {"Offset": records, "Record": records}  # in the order of the model, as in runs that are read
        given = {**self.config, "moves": moves}
        config = {entry.name: value_of(entry, given[entry.name]) for entry in self.model.configs}
        return ir.Scope({"Broker": self.names}, nats, {}, config, frozenset({"Epoch"}))


def partition(settings: Settings) -> PartitionModel:
    """The model of a topic's partition under the settings."""
    made = settings.switches
    approximations = []
    acks = {text: name for name, text in ACKS.items()}.get(made.acks.value, "all")
    if made.acks.value not in {"0", "1", "all", "-1"}:
        acks = "one"
        approximations.append(
            f"acks={made.acks.value} is modelled as acks=1: other replicas than the ISR may answer"
        )
    replicas, min_isr = made.replication_factor.value, made.min_insync_replicas.value
    wanted = settings.in_sync_wanted
    if replicas > MOST_BROKERS:
        fewer = _scaled_min_isr(min_isr, replicas)
        also = f", and min.insync.replicas={min_isr} as {fewer}" if fewer != min_isr else ""
        approximations.append(f"{replicas} replicas are modelled as {MOST_BROKERS}{also}")
        replicas, min_isr, wanted = MOST_BROKERS, fewer, fewer
    config: dict[str, str | int | bool] = {
        "acks": acks,
        "min_isr": min(min_isr, _MOST_WANTED),
        "unclean": made.unclean_election.value,
        "truncation": _TRUNCATION[made.truncation.value],
        "epoch_reached": made.expansion_waits_for_epoch.value,
        "restarts_noticed": made.restarts_noticed.value,
        "fenced_kept_out": made.fenced_kept_out.value,
        "moves": MOST_MOVES if made.leadership_moves.value and replicas > 1 else 0,
        **UNASKED,
        "strict_min_isr": made.strict_min_isr.value,
        "elr": made.eligible_leader_replicas.value,
        "directories": made.directories_known.value,
        "flush": "every_message" if made.flush.value is Flush.EVERY_RECORD else "never",
    }
    ephemeral = made.storage.value is BrokerStorage.EPHEMERAL
    models = kafka()
    names = _names(settings, replicas)
    return PartitionModel(
        models["kafka"],
        models["unattended"],
        names,
        config,
        ephemeral,
        tuple(approximations),
        min(wanted, _MOST_WANTED),
    )


def counted_min_isr(wanted: int, replicas: int, *, strict: bool) -> int:
    """The `min.insync.replicas` that counts: as given, or where a release is strict at most the replicas."""
    return min(wanted, replicas) if strict else wanted


def _scaled_min_isr(min_isr: int, replicas: int) -> int:
    """The min.insync.replicas for at most MOST_BROKERS replicas that lets as many be missing as the real one.

    Where both numbers cannot be kept, three may be missing; a number that cannot be met stays so.
    """
    missing = min(replicas - min_isr, _MOST_MISSING)
    return min_isr if missing < 0 else min(min_isr, MOST_BROKERS - missing)


def _names(settings: Settings, replicas: int) -> tuple[str, ...]:
    """The names of the brokers, by the replicas of the topic's first partition if a file shows it."""
    ids = settings.topic.partitions[0].replicas if settings.topic and settings.topic.partitions else ()
    numbers = ids if len(set(ids)) == replicas else range(1, replicas + 1)
    return tuple(f"broker{number}" for number in numbers)


def with_spares(names: Sequence[str], many: int) -> tuple[str, ...]:
    """The names and further ones, by free numbers, up to `many` in all."""
    numbers = (f"broker{number}" for number in range(1, many + len(names) + 1))
    free = (name for name in numbers if name not in names)
    return (*names, *islice(free, max(0, many - len(names))))
