"""What `--also` asks of clients: of transactions whose requests come late, and of reads from followers."""

from __future__ import annotations

from collections.abc import Mapping

from modelcheck.kafka.questions.also.inquiry import Inquiries, Inquiry, outside
from modelcheck.kafka.questions.partition import PartitionModel
from modelcheck.kafka.settings.keys.releases import Plain
from modelcheck.kafka.settings.keys.versions import of, protocol
from modelcheck.kafka.settings.provenance import Stated
from modelcheck.kafka.settings.resolution.clients import JAVA
from modelcheck.kafka.settings.resolution.settings import Settings
from modelcheck.kafka.settings.resolution.switches import Controller

TRANSACTIONS_SINCE = of(0, 11)  # KIP-98
VERIFIED_SINCE = of(3, 6)  # KIP-890, part 1
SECOND_VERSION = of(4, 0)  # KIP-890, part 2, of brokers and of Kafka's own client
BY_ITSELF = protocol("4.0-IV2")  # TransactionVersion.TV_2
FOLLOWERS_SINCE = of(2, 4)  # KIP-392
IN_SYNC_SINCE = of(3, 3, 2)  # KAFKA-14372
_RACK_AWARE = "RackAwareReplicaSelector"
_WHOLE = ("commits_were_asked_for", "commits_are_whole", "aborts_are_whole")


def transactions(_: PartitionModel, settings: Settings) -> Inquiries:
    """Searches for one producer with two transactions in two partitions, and delayed requests."""
    release = settings.version.value
    if release < TRANSACTIONS_SINCE:
        return Inquiries((), (f"Kafka {release} has no transactions: they came with {TRANSACTIONS_SINCE}",))
    verified, each = _verified(settings), _epoch_per_transaction(settings)
    given: dict[str, Plain] = {"verified": verified.value, "epoch_per_transaction": each.value}
    members = {"Partition": ("P", "Q")}
    bounds = {"Transaction": 2, "ProducerEpoch": 4 if each.value else 0, "requests": 3}
    model = ("kafka_transactions", "kafka_transactions")

    def of_faults(what: str, says: str, only: tuple[str, ...], fault: str) -> Inquiry:
        return Inquiry(what, says, model, only, {fault: None}, given, members=members, bounds=bounds)

    end, record = "a request to commit or abort comes late", "a record comes late"
    asked = (
        of_faults("whole", end, _WHOLE, "hold_up_end"),
        of_faults("whole", record, _WHOLE, "hold_up_record"),
        of_faults("closed", record, ("none_hangs",), "hold_up_record"),
        of_faults("goes_on", end, ("producer_goes_on",), "hold_up_end"),
    )
    producer = settings.value("transactional.id")
    known = (
        "a producer with transactions, though no file gives a transactional.id"
        if producer.origin is None
        else f"the producer of {producer.origin.place}"
    )
    return Inquiries(
        asked,
        ("coordinators and leaders that fail: the topic __transaction_state is reviewed by its name",),
        (known, verified.reason, each.reason, _isolation(settings)),
    )


def consumers(partition: PartitionModel, settings: Settings) -> Inquiries:
    """Searches for a consumer that reads from the replica in its rack while followers do not fetch."""
    release = settings.version.value
    positions = "the positions that consumers commit: the topic __consumer_offsets is reviewed by its name"
    if release < FOLLOWERS_SINCE:
        return Inquiries((), (f"consumers read from the leader before Kafka {FOLLOWERS_SINCE}", positions))
    selector = outside(settings).get("replica.selector.class")
    if selector is None or partition.replicas == 1:
        why = (
            "no replica.selector.class is given" if selector is None else "there is no follower to read from"
        )
        return Inquiries((), (f"consumers read from the leader: {why}", positions))
    given: dict[str, Plain] = {"only_in_sync": release >= IN_SYNC_SINCE, "records": 1}
    stop: Mapping[str, int | None] = {"stop": None}
    members, bounds = {"Replica": partition.names}, {"Offset": 1}
    model = ("kafka_follower_reads", "unattended")
    says = "followers stop fetching"
    asked = tuple(
        Inquiry(what, says, model, only, stop, given, members=members, bounds=bounds)
        for what, only in (("reads_on", ("reads_on",)), ("committed", ("only_committed",)))
    )
    rack = outside(settings).get("client.rack")
    where = "any replica may be in the rack of the consumer"
    where += "" if rack is None else f" (client.rack at {rack.place})"
    own = "" if selector.value.strip().endswith(_RACK_AWARE) else f", taken for {_RACK_AWARE}"
    sent = f"a consumer is sent to the replica of its rack (replica.selector.class at {selector.place}{own})"
    return Inquiries(
        asked,
        (positions, "a leader that is elected meanwhile: what consumers then have read is the row read"),
        (sent, where),
    )


def _verified(settings: Settings) -> Stated[bool]:
    """Whether a leader verifies a transaction with the coordinator before its first record."""
    key, release = "transaction.partition.verification.enable", settings.version.value
    said = outside(settings).get(key)
    if release < VERIFIED_SINCE:
        return Stated(
            value=False, reason=f"Kafka {release} lacks part 1 of KIP-890, which came with {VERIFIED_SINCE}"
        )
    if said is not None:
        return Stated(said.value.strip().lower() == "true", f"{key}={said.value.strip()} at {said.place}")
    return Stated(value=True, reason=f"{key} is true, as it is by default")


def _epoch_per_transaction(settings: Settings) -> Stated[bool]:
    """Whether each transaction gets a producer epoch; unknown for other clients than Kafka's."""
    key, release, client = "transaction.version", settings.version.value, settings.client.value
    if release < SECOND_VERSION or settings.switches.controller.value is not Controller.KRAFT:
        return Stated(
            value=False, reason=f"Kafka {release} lacks {key}=2, which came with {SECOND_VERSION} (KIP-890)"
        )
    if client.library != JAVA or client.release is None or client.release < SECOND_VERSION:
        return Stated(
            value=False,
            reason=f"{key}=2 needs a client of Kafka {SECOND_VERSION}, and {client} produces",
        )
    said = outside(settings).get(key)
    if said is not None:
        return Stated(said.value.strip() not in {"0", "1"}, f"{key}={said.value.strip()} at {said.place}")
    level = settings.value("metadata.version")
    if level.origin is not None and protocol(str(level.value)) < BY_ITSELF:
        return Stated(
            value=False, reason=f"metadata.version={level.value}: {key}=2 is there from {BY_ITSELF} on"
        )
    reason = f"{key}=2, as in clusters that began with {BY_ITSELF}; one that was upgraded keeps what it had"
    return Stated(value=True, reason=reason)


def _isolation(settings: Settings) -> str:
    """The isolation level of consumers."""
    said = outside(settings).get("isolation.level")
    loose = "is given records of transactions that are open or aborted"
    if said is None:
        return (
            f"consumers with isolation.level=read_committed; one with the default, read_uncommitted, {loose}"
        )
    if said.value.strip() == "read_committed":
        return f"isolation.level=read_committed at {said.place}"
    return (
        f"consumers with isolation.level=read_committed; the one of {said.place}, read_uncommitted, {loose}"
    )
