"""Changes of a configuration: as switches of the model, and in the words of Kafka."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from modelcheck.kafka.questions.partition import MOST_BROKERS, PartitionModel, counted_min_isr, with_spares
from modelcheck.kafka.settings.keys.catalogue import known
from modelcheck.kafka.settings.keys.releases import entry, release_of
from modelcheck.kafka.settings.keys.versions import NEWEST, Version, of
from modelcheck.kafka.settings.resolution.settings import Settings
from spec.frozen import frozen

REPLICAS = "replicas"
_USUAL_REPLICAS = 3
Setting = str | int | bool


@frozen
class Circumstances:
    """What decides which changes are possible, and how they are worded: release, client, controller.

    `producer` is the producer's release; `elr` is whether eligible leader replicas are on.
    """

    release: Version
    brokers: int
    producer: Version
    elr: bool = False


def circumstances(settings: Settings) -> Circumstances:
    """What of a configuration decides the possible changes: its releases, brokers and switches."""
    release, producer = settings.version.value, settings.client.value.release
    elr = settings.switches.eligible_leader_replicas.value
    return Circumstances(release, settings.brokers.value, producer or NEWEST, elr)


@frozen
class SwitchChange:
    """A new value for one switch of the model; `switch` is its name, or `replicas`."""

    switch: str
    before: Setting
    after: Setting


@frozen
class Words:
    """A change as a user makes it, with side effects; `upgrade` if it is another release."""

    what: str
    needs: str
    upgrade: bool


@frozen
class _Newer:
    """What a release brings: a feature, and what always comes with it."""

    what: str
    along: Mapping[str, Setting]


_EPOCHS: Mapping[str, Setting] = {"truncation": "kip_279", "epoch_reached": True, "restarts_noticed": True}
_STRICT: Mapping[str, Setting] = {**_EPOCHS, "fenced_kept_out": True, "strict_min_isr": True}
_NEWER = {
    "truncation": _Newer(
        "inter.broker.protocol.version=2.2 or later (followers cut their logs by leader epoch)",
        _EPOCHS,
    ),
    "fenced_kept_out": _Newer("the KRaft controller instead of ZooKeeper", _EPOCHS),
    "strict_min_isr": _Newer("that nothing is committed below min.insync.replicas (KAFKA-15583)", _EPOCHS),
    "elr": _Newer("eligible.leader.replicas.version=1 (KIP-966)", {**_STRICT, "directories": True}),
}
_ACKS: tuple[Setting, ...] = ("zero", "one", "all")


def single_changes(partition: PartitionModel) -> Iterator[SwitchChange]:
    """Each useful change of one switch, the most promising first.

    An older Kafka, or a producer that waits for less, is no remedy, so none of these is tried.
    """
    config = partition.config
    yield from (
        SwitchChange("acks", config["acks"], after) for after in _ACKS[_ACKS.index(config["acks"]) + 1 :]
    )
    least = int(config["min_isr"])
    yield from (SwitchChange("min_isr", least, after) for after in range(least + 1, partition.replicas + 1))
    if config["unclean"]:
        yield SwitchChange("unclean", before=True, after=False)
    if config["flush"] != "every_message":
        yield SwitchChange("flush", config["flush"], "every_message")
    if partition.replicas < MOST_BROKERS:
        most = max(_USUAL_REPLICAS, partition.replicas + 1)
        for after in range(partition.replicas + 1, most + 1):
            yield SwitchChange(REPLICAS, partition.replicas, after)
    if config["truncation"] != "kip_279":
        yield SwitchChange("truncation", config["truncation"], "kip_279")
    yield from (
        SwitchChange(switch, before=False, after=True)
        for switch in ("fenced_kept_out", "strict_min_isr", "elr")
        if not config[switch]
    )


def changed(partition: PartitionModel, changes: tuple[SwitchChange, ...]) -> PartitionModel:
    """The configuration with the changes, and with what the releases they need bring along."""
    config = dict(partition.config)
    names, wanted = partition.names, partition.in_sync_wanted
    for change in changes:
        if change.switch == REPLICAS:
            names = with_spares(names, int(change.after))
            continue
        config[change.switch] = change.after
        if change.switch in _NEWER:
            config |= _NEWER[change.switch].along
        if change.switch == "min_isr":
            wanted = int(change.after)
    # Since it counts as at most the number of replicas, it counts for more of more of them.
    config["min_isr"] = counted_min_isr(wanted, len(names), strict=bool(config["strict_min_isr"]))
    return replace(partition, names=names, config=config, in_sync_wanted=wanted)


def in_words(change: SwitchChange, about: Circumstances) -> Words:
    """A change as it is written in a configuration, and its requirements."""
    if change.switch == REPLICAS:
        more = int(change.after) > about.brokers
        return Words(
            f"replication factor {change.after}", f"{change.after} brokers" if more else "", upgrade=False
        )
    if change.switch in _NEWER:
        first, what = _first(change), _NEWER[change.switch].what
    else:
        first, what = known(_key(change)).first, "=".join(_written(change, about.producer))
    upgrade = about.release < first
    if change.switch == "min_isr" and about.elr:  # KAFKA-16540
        return Words(what, "to be set for the topic or for the cluster, not in a broker's file", upgrade)
    return Words(what, f"Kafka {first} or later" if upgrade else "", upgrade)


def _first(change: SwitchChange) -> Version:
    """The first release in which a change is possible."""
    if change.switch == "elr":
        return known(_key(change)).first  # it is on by default later than it is available
    # Epochs are worth something once no restart goes unnoticed.
    name, after = (
        ("restarts_noticed", True) if change.switch == "truncation" else (change.switch, change.after)
    )
    return release_of(name, after)


def _written(change: SwitchChange, producer: Version) -> tuple[str, str]:
    """The key and the value to write; `acks` as the producer's release spells it."""
    if change.switch == "acks":
        old = producer < of(0, 8, 2)
        number = {"zero": "0", "one": "1", "all": "-1" if old else "all"}[str(change.after)]
        return ("request.required.acks" if old else "acks"), number
    value = "1" if change.switch == "flush" else str(change.after).lower()
    return _key(change), value


def _key(change: SwitchChange) -> str:
    """The Kafka key of the changed switch."""
    key = entry(change.switch).key_name
    if not key:
        raise ValueError(f"no key for {change.switch}")
    return key
