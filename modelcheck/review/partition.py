"""A reviewed configuration as a model: `spec/protocols/kafka.rsm` with its switches set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

import spec.ir as ir
from modelcheck.review.releases import ACKS, kafka, value_of
from modelcheck.review.settings import Settings
from modelcheck.review.switches import BrokerStorage, Flush, Truncation
from spec.frozen import frozen

MOST_BROKERS = 7
MOST_MOVES = 2
# Questions with fewer faults have the scope of this many: of as many as there are brokers, within these.
SHARED = 2
MOST_SHARED = 3
# A review asks what goes wrong, and a rolling restart is nothing wrong: these are the same in all questions.
UNASKED: Mapping[str, str | int | bool] = {"rolls": 0, "clean_restart_known": True}
_TRUNCATION = {
    Truncation.HIGH_WATERMARK: "own_high_watermark",
    Truncation.KIP_101: "kip_101",
    Truncation.KIP_279: "kip_279",
}


@frozen
class PartitionModel:
    """The model of one partition under a configuration.

    `names` are the brokers with a replica; `config` has a value for each switch
    by the names of the model (members of enums by name); `approximations` say
    in words where the model is coarser than the configuration.
    """

    model: ir.Model
    unattended: ir.Model
    names: tuple[str, ...]
    config: Mapping[str, str | int | bool]
    ephemeral: bool
    approximations: tuple[str, ...]

    @property
    def replicas(self) -> int:
        """How many replicas the partition has."""
        return len(self.names)

    @property
    def moves(self) -> int:
        """How often leadership may be moved without need, where that is asked about."""
        return int(self.config["moves"])

    @property
    def shared(self) -> int:
        """Questions with fewer faults have the scope of this many: all of few brokers may be down."""
        return max(SHARED, min(self.replicas, MOST_SHARED))

    def scope(self, faults: int, records: int, moves: int = 0) -> ir.Scope:
        """Bounds for numbers of faults, records and moves of leadership.

        Each fault and each move may cost an election; room for one more changes nothing.  Few faults have
        room for as many elections as the `shared` have, and for those of moves that are not asked about:
        they find no state more, and share what is compiled.
        """
        nats = {"Record": records, "Offset": records, "Epoch": 2 + max(faults, self.shared) + self.moves}
        given = {**self.config, "moves": moves}
        config = {entry.name: value_of(entry, given[entry.name]) for entry in self.model.configs}
        return ir.Scope({"Broker": self.names}, nats, {}, config)


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
    replicas = made.replication_factor.value
    if replicas > MOST_BROKERS:
        approximations.append(f"{replicas} replicas are modelled as {MOST_BROKERS}")
        replicas = MOST_BROKERS
    config: dict[str, str | int | bool] = {
        "acks": acks,
        "min_isr": min(made.min_insync_replicas.value, 9),
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
        models["kafka"], models["unattended"], names, config, ephemeral, tuple(approximations)
    )


def _names(settings: Settings, replicas: int) -> tuple[str, ...]:
    """The brokers by their ids, where a file shows the replicas of the topic's first partition."""
    ids = settings.topic.partitions[0].replicas if settings.topic and settings.topic.partitions else ()
    numbers = ids if len(set(ids)) == replicas else range(1, replicas + 1)
    return tuple(f"broker{number}" for number in numbers)


def with_spares(names: Sequence[str], many: int) -> tuple[str, ...]:
    """The brokers of these names, and then others up to `many` in all, by numbers that are free."""
    numbers = (f"broker{number}" for number in range(1, many + len(names) + 1))
    free = (name for name in numbers if name not in names)
    return (*names, *islice(free, max(0, many - len(names))))
