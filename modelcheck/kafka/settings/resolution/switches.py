"""What the release and the settings together make Kafka do: the choices a model of it has to make.

The model has the versions from which Kafka does what (NOTE(releases)).  Here is what else
decides it: the protocol that a cluster is held back to, the format on disk, the kind of controller.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from enum import StrEnum

from modelcheck.asking.overrides import as_typed
from modelcheck.kafka.settings.keys.catalogue import known as key_named
from modelcheck.kafka.settings.keys.key import NEVER, BadValueError, parse
from modelcheck.kafka.settings.keys.releases import protocol_of, release_of
from modelcheck.kafka.settings.keys.versions import ProtocolVersion, Version, of, protocol
from modelcheck.kafka.settings.provenance import Stated
from modelcheck.kafka.settings.readings import About, Given, Reading, SettingLayer
from modelcheck.kafka.settings.resolution.clients import Client
from modelcheck.kafka.settings.resolution.cluster import KRAFT_READY, facts_about
from modelcheck.kafka.settings.resolution.precedence import Effective
from modelcheck.kafka.settings.resolution.roles import controllers_in, roles_of
from spec.frozen import frozen

# ConfigurationControlManager.uncleanLeaderElectionEnabledForTopic was `false` before.
_KRAFT_UNCLEAN = of(3, 9)
_MIGRATION, _MIGRATES = "zookeeper.metadata.migration.enable", of(3, 4)


class Truncation(StrEnum):
    """How a follower truncates its log when it follows a new leader."""

    HIGH_WATERMARK = "high_watermark"
    KIP_101 = "kip_101"
    KIP_279 = "kip_279"


class Controller(StrEnum):
    """The kind of controller: ZooKeeper or KRaft."""

    ZOOKEEPER = "zookeeper"
    KRAFT = "kraft"


class Flush(StrEnum):
    """Whether a record is flushed to disk before it is acknowledged."""

    EVERY_RECORD = "every_record"
    BACKGROUND = "background"


class BrokerStorage(StrEnum):
    """Whether a broker's disk survives its restart."""

    DURABLE = "durable"
    EPHEMERAL = "ephemeral"


@frozen
class Switches:
    """The values of the model's switches, each with its reason in words.

    `min_insync_replicas` is the number that counts, after Kafka's own bounds;
    `acks` is `0`, `1`, `all`, or until 0.8.2 a larger number of replicas.
    """

    acks: Stated[str]
    replication_factor: Stated[int]
    min_insync_replicas: Stated[int]
    unclean_election: Stated[bool]
    controller: Stated[Controller]
    truncation: Stated[Truncation]
    expansion_waits_for_epoch: Stated[bool]
    restarts_noticed: Stated[bool]
    fenced_kept_out: Stated[bool]
    leadership_moves: Stated[bool]
    flush: Stated[Flush]
    storage: Stated[BrokerStorage]
    strict_min_isr: Stated[bool]
    eligible_leader_replicas: Stated[bool]
    directories_known: Stated[bool]

    def as_json(self) -> dict[str, object]:
        """The switches with their reasons as JSON data."""
        return {f.name: getattr(self, f.name).as_json() for f in fields(self)}


@frozen
class Known:
    """The settings and facts from which switches are derived; `controller` is one to take for granted.

    `upgraded` is whether the cluster is older than its release, so that no feature is on by default.
    """

    release: Version
    values: Mapping[str, Effective]
    readings: Sequence[Reading]
    factor: Stated[int]
    client: Stated[Client]
    controller: Controller | None = None
    upgraded: bool = False

    def said(self, key: str) -> str:
        """A key's value with its place or reason, as part of a sentence."""
        found = self.values[key]
        if found.value is None:
            return f"{key}: {found.why}"
        shown = as_typed(found.value)
        return f"{key}={'never' if shown == NEVER else shown} ({found.why})"

    def given(self, key: str) -> str | None:
        """The text of a key's value, if a file sets it."""
        found = self.values[key]
        return str(found.value) if found.origin is not None and found.value is not None else None


def switches(known: Known) -> Switches:
    """The switches for these settings.  Costs nothing; never fails."""
    controller = _controller(known)
    live = _live_protocol(known, controller.value)
    elr = _eligible_leader_replicas(known, controller.value, live.value)
    return Switches(
        acks=_acks(known),
        replication_factor=known.factor,
        min_insync_replicas=_at_most_the_replicas(known, min_insync(known, elr=elr.value)),
        unclean_election=_unclean(known, controller),
        controller=controller,
        truncation=_truncation(known, controller.value, live),
        expansion_waits_for_epoch=_since_release(known, "epoch_reached", "KAFKA-7128"),
        restarts_noticed=_restarts_noticed(controller, live),
        fenced_kept_out=_fenced_kept_out(known, controller.value, live),
        leadership_moves=_leadership_moves(known),
        flush=_flush(known),
        storage=_storage(known),
        strict_min_isr=_strict_min_isr(known),
        eligible_leader_replicas=elr,
        directories_known=_directories_known(controller.value, live),
    )


def _acks(known: Known) -> Stated[str]:
    """The acknowledgements that the producer requests."""
    acks = known.values["acks"]
    if acks.origin is not None:
        return Stated(str(acks.value), known.said("acks"))
    for key in ("enable.idempotence", "transactional.id"):
        if known.given(key) not in {None, "False", ""}:
            return Stated("all", f"{known.said(key)} makes the producer take acks=all")
    if known.client.assumed:
        return Stated(str(acks.value), f"{known.said('acks')}; {known.client.reason}", assumed=True)
    return Stated(str(acks.value), known.said("acks"))


def min_insync(known: Known, *, elr: bool) -> Stated[int]:
    """The min.insync.replicas requested, before a release limits it to the replicas."""
    found = known.values["min.insync.replicas"]
    number = found.value if isinstance(found.value, int) else 1
    said = known.said("min.insync.replicas")
    if not elr or (found.origin is not None and found.origin.layer is not SettingLayer.BROKER_STATIC):
        return Stated(number, said, assumed=found.origin is None)
    for_all = "with eligible leader replicas the active controller's own value is the cluster's (KAFKA-16540)"
    given = [
        one for reading in known.readings for one in reading.given if one.layer is SettingLayer.BROKER_STATIC
    ]
    roles = roles_of(given)
    controllers = [home for home, value in roles.items() if "controller" in value]
    if not controllers:
        if found.origin is None or found.origin.home not in roles:
            return Stated(number, said, assumed=found.origin is None)
        return Stated(1, f"{for_all}, and no file of a controller is given, which makes it 1", assumed=True)
    last = {one.home: one for one in given if one.key == "min.insync.replicas" and one.home in controllers}
    theirs: list[tuple[int, Given]] = []
    for one in last.values():
        with suppress(BadValueError):  # reported when the setting itself is read
            theirs.append((int(parse(key_named(one.key), one.value, known.release)), one))
    if len(last) < len(controllers):  # any of them may be the active one
        if found.origin is None and not last:
            return Stated(number, said, assumed=True)
        whose = "the file of a controller" if last else "the controllers' file"
        return Stated(1, f"{for_all}, and {whose} does not give it, which makes it 1")
    least, at = min(theirs, key=lambda pair: pair[0], default=(number, None))
    return Stated(least, said if at is None else f"min.insync.replicas={least} at {at.place}: {for_all}")


def _at_most_the_replicas(known: Known, wanted: Stated[int]) -> Stated[int]:
    """The min.insync.replicas limited to the number of replicas, where the release does so."""
    if known.release >= release_of("strict_min_isr", value=True) and wanted.value > known.factor.value:
        reason = f"{wanted.reason}; since Kafka 3.7 it counts as at most the number of replicas"
        return Stated(known.factor.value, reason)
    return wanted


def _unclean(known: Known, controller: Stated[Controller]) -> Stated[bool]:
    """Whether unclean election is enabled; where nothing shows the controller, as it is set."""
    found = known.values["unclean.leader.election.enable"]
    is_sure = known.controller is not None or not controller.assumed
    is_kraft = controller.value is Controller.KRAFT and is_sure
    if is_kraft and known.release < _KRAFT_UNCLEAN:
        reason = (
            f"the KRaft controller elects no leader uncleanly before {_KRAFT_UNCLEAN}, whatever is set"
            " (KAFKA-12670)"
        )
        return Stated(value=False, reason=reason)
    if found.value is None:
        return Stated(
            value=True,
            reason=f"Kafka {known.release} always elects a replica out of sync when no other is left",
        )
    if is_kraft and found.value is False and (other := _unclean_of_a_controller(known, found)):
        return other
    return Stated(
        found.value is True, known.said("unclean.leader.election.enable"), assumed=found.origin is None
    )


def _unclean_of_a_controller(known: Known, found: Effective) -> Stated[bool] | None:
    """Unclean election as a controller has it for which nothing is set while it runs, if that allows it.

    What is set for a broker counts for it alone, where it is the active controller.
    """
    if found.origin is None or found.origin.layer is not SettingLayer.BROKER_DYNAMIC:
        return None
    static = [one for one in found.overridden if one.layer is SettingLayer.BROKER_STATIC]
    own = {one.entity for one in (found.origin, *found.overridden) if one.layer is found.origin.layer}
    controllers = controllers_in(one for reading in known.readings for one in reading.given)
    if controllers and controllers <= own:
        return None
    wide = [one for one in found.overridden if one.layer is SettingLayer.CLUSTER_DYNAMIC]
    for one in wide[-1:] or static:
        if parse(key_named(one.key), one.value, known.release) is True:
            said = f"{one.key}=true ({one.layer} at {one.place})"
            return Stated(value=True, reason=f"{said}, which counts for a controller that has no other value")
    return None


def possible_controllers(known: Known) -> tuple[Controller, ...]:
    """The controllers that the release and the files leave possible, the likeliest first."""
    if known.controller is not None:
        return (known.controller,)
    if (shown := _shown_controller(known)) is not None:
        return (shown.value,)
    both = (Controller.KRAFT, Controller.ZOOKEEPER)
    return both if known.release >= KRAFT_READY else (Controller.ZOOKEEPER,)


def _controller(known: Known) -> Stated[Controller]:
    """The controller that elects leaders."""
    if (shown := _shown_controller(known)) is not None:
        return shown
    kind = possible_controllers(known)[0]
    if _is_migrating(known):
        return Stated(
            kind, "the cluster is moving from ZooKeeper to KRaft, and may have either", assumed=True
        )
    why = f"KRaft is ready for production from Kafka {KRAFT_READY} on"
    if known.controller is not None:
        return Stated(kind, f"no file shows which, and {why}", assumed=True)
    return Stated(kind, f"no file shows which; assumed, since {why}", assumed=True)


def _is_migrating(known: Known) -> bool:
    """Whether the cluster moves to KRaft (KIP-866) and no broker has moved, so that either may control it."""
    given = [one for reading in known.readings for one in reading.given]
    roles = roles_of(one for one in given if one.layer is SettingLayer.BROKER_STATIC)
    begun = any(one.key == _MIGRATION and one.value.strip().lower() == "true" for one in given)
    return begun and known.release >= _MIGRATES and not any("broker" in value for value in roles.values())


def _shown_controller(known: Known) -> Stated[Controller] | None:
    """The controller by the release, the settings and the facts in the files; None if they leave it open."""
    if known.release >= of(4, 0):
        return Stated(Controller.KRAFT, "Kafka has no ZooKeeper since 4.0")
    if _is_migrating(known):
        return None
    if known.given("process.roles"):
        return Stated(Controller.KRAFT, known.said("process.roles"))
    if known.release < of(2, 8):
        return Stated(Controller.ZOOKEEPER, f"Kafka {known.release} knows no other controller")
    if known.given("zookeeper.connect"):
        return Stated(Controller.ZOOKEEPER, known.said("zookeeper.connect"))
    for fact in facts_about(known.readings, About.CONTROLLER):
        return Stated(Controller(fact.value), f"{fact.words} at {fact.place}")
    for one in (one for reading in known.readings for one in reading.given):
        if one.key.startswith("zookeeper.") and one.layer is not SettingLayer.DEFAULT:
            reason = f"{one.key} at {one.place}, which only brokers with ZooKeeper read"
            return Stated(Controller.ZOOKEEPER, reason, assumed=True)
    for key in ("metadata.version", "eligible.leader.replicas.enable"):
        if known.given(key):
            return Stated(Controller.KRAFT, f"{known.said(key)}, which only KRaft has")
    if known.given("inter.broker.protocol.version"):
        reason = f"{known.said('inter.broker.protocol.version')}, which KRaft does not use"
        return Stated(Controller.ZOOKEEPER, reason, assumed=True)
    return None


def _live_protocol(known: Known, controller: Controller) -> Stated[ProtocolVersion]:
    """The protocol version in use: the release's, unless a setting holds it back."""
    key = "metadata.version" if controller is Controller.KRAFT else "inter.broker.protocol.version"
    newest = known.release.line
    mine = protocol(".".join(map(str, newest)))
    said = known.given(key)
    if said is not None and protocol(said) < mine:
        return Stated(protocol(said), known.said(key))
    return Stated(mine, f"brokers speak the protocol of Kafka {known.release}", assumed=said is None)


def _truncation(known: Known, controller: Controller, live: Stated[ProtocolVersion]) -> Stated[Truncation]:
    """How followers truncate, by the release and protocol."""
    epochs = protocol_of("truncation", "kip_101")
    if live.value < epochs:
        reason = f"{live.reason}; leader epochs decide truncation from {epochs} on (KIP-101)"
        return Stated(Truncation.HIGH_WATERMARK, reason)
    written = known.given("log.message.format.version")
    if (
        written is not None
        and controller is Controller.ZOOKEEPER
        and live.value < protocol("3.0-IV1")
        and protocol(written) < protocol("0.11.0-IV0")
    ):
        reason = (
            f"{known.said('log.message.format.version')}: records on disk carry no leader epoch before 0.11.0"
        )
        return Stated(Truncation.HIGH_WATERMARK, reason)
    asks_again = protocol_of("truncation", "kip_279")
    rule, since = Truncation.KIP_101, epochs
    if live.value >= asks_again:
        rule, since = Truncation.KIP_279, asks_again
    name = rule.name.replace("_", "-")
    return Stated(rule, f"{live.reason}; {name} is live from {since} on", live.assumed)


def _restarts_noticed(controller: Stated[Controller], live: Stated[ProtocolVersion]) -> Stated[bool]:
    """Whether the controller notices a broker's fast restart."""
    if controller.value is Controller.KRAFT:
        return Stated(value=True, reason="a broker that restarts registers anew with the KRaft controller")
    return _since_protocol(live, "restarts_noticed", "KIP-380")


def _fenced_kept_out(known: Known, controller: Controller, live: Stated[ProtocolVersion]) -> Stated[bool]:
    """Whether fenced brokers are kept out of the ISR."""
    if controller is Controller.KRAFT:
        return _since_protocol(live, "fenced_kept_out", "KIP-841")
    return _since_release(known, "fenced_kept_out", "the controller's look at who is alive")


def _directories_known(controller: Controller, live: Stated[ProtocolVersion]) -> Stated[bool]:
    """Whether the controller knows the log directory of each replica."""
    if controller is not Controller.KRAFT:
        return Stated(value=False, reason="only the KRaft controller knows directories of replicas (KIP-858)")
    return _since_protocol(live, "directories", "KIP-858")


def _leadership_moves(known: Known) -> Stated[bool]:
    """Whether leadership may be transferred without a fault."""
    keys = ("auto.leader.rebalance.enable", "controlled.shutdown.enable")
    moving = [key for key in keys if known.values[key].value is True]
    if not moving:
        return Stated(value=False, reason=" and ".join(map(known.said, keys)))
    return Stated(
        value=True,
        reason=known.said(moving[0]),
        assumed=all(known.values[key].origin is None for key in moving),
    )


def _flush(known: Known) -> Stated[Flush]:
    """Whether each record is flushed before its acknowledgement, or in the background."""
    found = known.values["log.flush.interval.messages"]
    every = isinstance(found.value, int) and found.value <= 1
    said = known.said("log.flush.interval.messages")
    if every:
        return Stated(Flush.EVERY_RECORD, f"{said}: each record is forced to the disk")
    reason = f"{said}: what is not yet flushed may be lost when the machine loses power"
    return Stated(Flush.BACKGROUND, reason, assumed=found.origin is None)


def _storage(known: Known) -> Stated[BrokerStorage]:
    """Whether disks survive restarts."""
    facts = facts_about(known.readings, About.STORAGE)
    lost = next((fact for fact in facts if fact.value == "ephemeral"), None)
    if lost is not None:
        reason = f"{lost.words} at {lost.place}: a pod that is replaced starts with an empty disk"
        return Stated(BrokerStorage.EPHEMERAL, reason)
    if facts:
        return Stated(BrokerStorage.DURABLE, f"{facts[0].words} at {facts[0].place}")
    return Stated(BrokerStorage.DURABLE, "assumed, since no file has anything else", assumed=True)


def _strict_min_isr(known: Known) -> Stated[bool]:
    """Whether the high watermark advances only with min.insync.replicas in sync."""
    first = release_of("strict_min_isr", value=True)
    if known.release >= first:
        reason = (
            f"since Kafka {first} the high watermark does not advance below min.insync.replicas (KAFKA-15583)"
        )
        return Stated(value=True, reason=reason)
    below = "with fewer than min.insync.replicas in sync"
    reason = f"in Kafka {known.release} the high watermark also advances {below}"
    return Stated(value=False, reason=reason)


def _eligible_leader_replicas(known: Known, controller: Controller, live: ProtocolVersion) -> Stated[bool]:
    """Whether eligible leader replicas are in use."""
    if controller is not Controller.KRAFT:
        return Stated(value=False, reason="eligible leader replicas need KRaft (KIP-966)")
    if known.release < of(4, 0):
        preview = known.given("eligible.leader.replicas.enable") == "True"
        said = f"{known.said('eligible.leader.replicas.enable')}, and " if preview else ""
        reason = f"{said}eligible leader replicas came with metadata version 4.0-IV1 (KIP-966)"
        return Stated(value=False, reason=reason)
    if live < protocol("4.0-IV1"):
        return Stated(
            value=False, reason=f"{known.said('metadata.version')}; eligible leader replicas need 4.0-IV1"
        )
    found = known.values["eligible.leader.replicas.version"]
    if found.origin is None and (shown := _with_eligible(known.readings)):
        return Stated(value=True, reason=f"{shown} shows some that are eligible")
    on_by_itself = protocol_of("elr", value=True)
    if found.origin is None and known.given("metadata.version") and live < on_by_itself:
        reason = f"{known.said('metadata.version')}; the feature is on by default from {on_by_itself} on"
        return Stated(value=False, reason=reason, assumed=True)
    on = isinstance(found.value, int) and found.value > 0
    said = known.said("eligible.leader.replicas.version")
    if found.origin is None and on and known.upgraded:
        reason = "no file shows eligible leader replicas, and an upgraded cluster has none of itself"
        return Stated(value=False, reason=reason, assumed=True)
    if found.origin is None and on:
        said += ", for clusters that began with it; one that was upgraded keeps what it had"
    return Stated(on, said, assumed=found.origin is None)


def _with_eligible(readings: Sequence[Reading]) -> str:
    """The place of a topic with a partition that has eligible leader replicas; empty if files show none."""
    topics = (topic for reading in readings for topic in reading.topics)
    return next((topic.place for topic in topics if any(part.elr for part in topic.partitions)), "")


def _since_release(known: Known, entry: str, fix: str) -> Stated[bool]:
    """Whether a fix is in the release, with the reason."""
    first = release_of(entry, value=True)
    has = known.release >= first
    return Stated(has, f"Kafka {known.release} {'has' if has else 'lacks'} {fix}, which came with {first}")


def _since_protocol(live: Stated[ProtocolVersion], entry: str, fix: str) -> Stated[bool]:
    """Whether a fix is in the protocol version in use, with the reason."""
    first = protocol_of(entry, value=True)
    return Stated(live.value >= first, f"{live.reason}; {fix} is live from {first} on", live.assumed)
