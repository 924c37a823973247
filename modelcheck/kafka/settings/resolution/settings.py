"""Readings → the settings that count, each with its origin, and what they make Kafka do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from modelcheck.kafka.settings.keys.catalogue import MODELLED
from modelcheck.kafka.settings.keys.versions import Version
from modelcheck.kafka.settings.provenance import Remark, ResolutionDiagnostics, Stated
from modelcheck.kafka.settings.readings import Given, Reading, SettingLayer, Topic
from modelcheck.kafka.settings.resolution.clients import Client, stated_client
from modelcheck.kafka.settings.resolution.cluster import (
    chosen_topic,
    stated_brokers,
    stated_version,
    topics_in,
)
from modelcheck.kafka.settings.resolution.conflicts import find_conflicts
from modelcheck.kafka.settings.resolution.idempotence import find_refused_producers, switches_idempotence_off
from modelcheck.kafka.settings.resolution.inherited import perhaps_inherited, with_inherited
from modelcheck.kafka.settings.resolution.internal_topics import as_made, internal, of_brokers
from modelcheck.kafka.settings.resolution.observers import find_observers
from modelcheck.kafka.settings.resolution.own_topics import find_own_topics
from modelcheck.kafka.settings.resolution.partition_states import PartitionState, partition_states
from modelcheck.kafka.settings.resolution.placement import find_misplaced, together
from modelcheck.kafka.settings.resolution.precedence import Effective, effective, sorted_out
from modelcheck.kafka.settings.resolution.refused import (
    accepted,
    accepted_with_elr,
    sets_min_insync_of_a_broker,
)
from modelcheck.kafka.settings.resolution.roles import OF_CONTROLLERS, controllers_in, counted
from modelcheck.kafka.settings.resolution.switches import (
    Controller,
    Known,
    Switches,
    min_insync,
    possible_controllers,
    switches,
)
from modelcheck.kafka.settings.resolution.unset import homes_shown, processes, with_other_brokers, with_unset
from modelcheck.kafka.settings.resolution.voters import Voters, stated_voters
from spec.diagnostics import Diagnostic, SpecError, as_json
from spec.frozen import frozen


@frozen
class Settings:
    """A resolved configuration: effective values, assumptions, and settings without effect.

    `values` are the modelled keys; `outside` matters but is not in the model; `ignored` has no influence
    or is not read by this release; `unknown` is no key of Kafka.  `warnings`
    are diagnostics that do not stop a review; `voters` are the controllers that files name, and
    `together` is how many replicas the fullest rack has, and `in_sync_wanted` is `min.insync.replicas` as
    it is given, whatever the number of replicas is.  `controllers` are those that the files leave possible,
    `states` those of partitions that are not well.  `refused` is why the model has no answer for the topic.
    """

    version: Stated[Version]
    client: Stated[Client]
    brokers: Stated[int]
    topic: Topic | None
    topics: tuple[Topic, ...]
    values: tuple[Effective, ...]
    switches: Switches
    outside: tuple[Remark, ...]
    ignored: tuple[Remark, ...]
    unknown: tuple[Remark, ...]
    warnings: tuple[Diagnostic, ...]
    notes: tuple[str, ...]
    together: Stated[int]
    in_sync_wanted: int
    voters: Voters | None = None
    controllers: tuple[Controller, ...] = ()
    states: tuple[PartitionState, ...] = ()
    refused: Diagnostic | None = None

    @property
    def used(self) -> tuple[Effective, ...]:
        """The modelled keys that a file sets."""
        return tuple(found for found in self.values if found.origin is not None)

    @property
    def defaulted(self) -> tuple[Effective, ...]:
        """The modelled keys that no file sets and that have a default, or a meaning if unset."""
        return tuple(f for f in self.values if f.origin is None and (f.value is not None or f.absent))

    def value(self, key: str) -> Effective:
        """The effective value of a modelled key, which must exist."""
        return next(found for found in self.values if found.key == key)

    def as_json(self) -> dict[str, object]:
        """The settings as JSON data."""
        return {
            "kafka": self.version.as_json(),
            "client": self.client.as_json(),
            "brokers": self.brokers.as_json(),
            "voters": None if self.voters is None else self.voters.as_json(),
            "topic": self.topic.as_json() if self.topic else None,
            "topics": [topic.name for topic in self.topics],
            "used": [found.as_json() for found in self.used],
            "defaulted": [found.as_json() for found in self.defaulted],
            "switches": self.switches.as_json(),
            "outside": [remark.as_json() for remark in self.outside],
            "ignored": [remark.as_json() for remark in self.ignored],
            "unknown": [remark.as_json() for remark in self.unknown],
            "warnings": [as_json(warning) for warning in self.warnings],
            "notes": list(self.notes),
        }


@frozen
class AssumedCluster:
    """A release that the files leave possible, and a controller, None if they show it.

    `upgraded` is whether the cluster is older than the release.
    """

    release: Version
    controller: Controller | None = None
    upgraded: bool = False


def resolve(
    readings: Sequence[Reading],
    *,
    kafka: str | None = None,
    client: str | None = None,
    brokers: int | None = None,
    topic: str | None = None,
    possible: AssumedCluster | None = None,
    among_others: bool = False,
) -> Settings:
    """The effective settings of one topic, by Kafka's own precedence.

    A topic's setting wins over one made for a running broker, that over the
    cluster's default, that over the broker's file, and that over the release's
    default; a producer's other settings are the defaults of its own library and
    release, `client`.  What no file shows of the release and the controller is as in `possible`.
    Raises SpecError with every mistake that leaves no answer; `among_others`, a topic that the model cannot
    describe is no mistake, but `refused`.
    """
    findings = ResolutionDiagnostics()
    version = stated_version(readings, kafka, findings, None if possible is None else possible.release)
    own = internal(topic, version.value)
    if own is not None:
        readings = as_made(own, readings, version.value)
    chosen = chosen_topic(readings, topic, findings)
    given = tuple(one for reading in readings for one in reading.given if _is_about(one, chosen))
    producer = of_brokers(version.value) if own else stated_client(readings, client, version.value, findings)
    given = accepted(counted(given, chosen, version.value, findings), version.value, findings)

    def known(given: tuple[Given, ...], findings: ResolutionDiagnostics) -> Known:
        values = _values(given, readings, version.value, producer.value, findings)
        controller = None if possible is None else possible.controller
        upgraded = possible is not None and possible.upgraded
        factor = _factor(chosen, values)
        return Known(version.value, values, readings, factor, producer, controller, upgraded)

    if sets_min_insync_of_a_broker(given):
        # Whether eligible leader replicas are on does not depend on that setting.
        first = switches(known(given, ResolutionDiagnostics()))
        given = accepted_with_elr(given, findings) if first.eligible_leader_replicas.value else given
    about = known(given, findings)
    factor = about.factor
    count = stated_brokers(readings, brokers, factor.value, findings)
    values = _of_all_brokers(about, given, count.value, findings)
    if unsure := perhaps_inherited(readings, version.value):
        rest = tuple(one for one in given if one not in unsure)
        unheard = ResolutionDiagnostics()
        others = _of_all_brokers(known(rest, unheard), rest, count.value, unheard)
        if switches(about).eligible_leader_replicas.value:  # all brokers have the same minimum
            unsure = frozenset(one for one in unsure if one.key != "min.insync.replicas")
        values = with_inherited(values, others, unsure, findings)
    about = replace(about, values=values)
    made = switches(about)
    find_conflicts(version, count, chosen, values, made, findings)
    find_refused_producers(producer, values, readings, findings)
    find_misplaced(readings, count, chosen, findings)
    refused = find_observers(chosen, given)
    if refused is not None:
        (findings.warnings if among_others else findings.errors).append(refused)
    if own is None:
        find_own_topics(readings, version, count, findings)
    voters = stated_voters(readings, made.controller.value, findings)
    problems = [problem for reading in readings for problem in reading.problems]
    if problems or findings.errors:
        raise SpecError([*problems, *findings.errors])
    return Settings(
        version=version,
        client=producer,
        brokers=count,
        topic=chosen,
        topics=topics_in(readings),
        values=tuple(_settled(found, values, made, findings.outside) for found in values.values()),
        switches=made,
        outside=tuple(findings.outside),
        ignored=tuple(findings.ignored),
        unknown=tuple(findings.unknown),
        warnings=(*(one for reading in readings for one in reading.warnings), *findings.warnings),
        notes=(
            *(f"{reading.source.name}: {note}" for reading in readings for note in reading.notes),
            *(
                f"{reading.source.name}: {each.note}"
                for reading in readings
                for each in reading.missing
                if any(values[key].origin is None for key in each.keys)
            ),
            *findings.notes,
        ),
        together=together(readings, count.value, chosen, factor.value),
        in_sync_wanted=min_insync(about, elr=made.eligible_leader_replicas.value).value,
        voters=voters,
        controllers=possible_controllers(about),
        states=() if refused else partition_states(readings, chosen),
        refused=refused,
    )


def _values(
    given: tuple[Given, ...],
    readings: Sequence[Reading],
    release: Version,
    client: Client,
    findings: ResolutionDiagnostics,
) -> dict[str, Effective]:
    """The effective value of each modelled key."""
    groups = sorted_out(given, release, client, findings)
    found = {key: effective(key, groups[key.name], release, client, findings) for key in MODELLED}
    of = processes(readings, given)
    shown = homes_shown(readings)
    return {
        key.name: with_unset(value, key, of, shown, release, client, findings) for key, value in found.items()
    }


def _of_all_brokers(
    about: Known, given: tuple[Given, ...], count: int, findings: ResolutionDiagnostics
) -> dict[str, Effective]:
    """The value of each modelled key in the broker that counts, or in the controller where that decides."""
    of = processes(about.readings, given)
    has_controllers = bool(controllers_in(given))
    return {
        key.name: about.values[key.name]
        if has_controllers and key.name in OF_CONTROLLERS
        else with_other_brokers(about.values[key.name], key, of, about.release, count, findings)
        for key in MODELLED
    }


def _settled(
    found: Effective, values: Mapping[str, Effective], made: Switches, outside: Sequence[Remark]
) -> Effective:
    """An unset value, as other settings determine it."""
    acks, elr, transactional = made.acks, made.eligible_leader_replicas, values["transactional.id"]
    if found.origin is not None or found.value is None:
        return found
    if found.key == "acks" and found.value != acks.value:
        return replace(found, value=acks.value, why=acks.reason)
    if found.key == "enable.idempotence" and found.value and acks.value != "all":
        return replace(found, value=False, why=f"{acks.reason} switches it off")
    if found.key == "enable.idempotence" and found.value and not transactional.value:
        off = switches_idempotence_off(values["acks"].origin, outside)
        why = found.why if off is None else f"{off.key}={off.value.strip()} at {off.place} switches it off"
        return replace(found, value=off is None, why=why)
    if found.key == "enable.idempotence" and not found.value and transactional.value:
        return replace(found, value=True, why=f"transactional.id ({transactional.why}) switches it on")
    if found.key == "eligible.leader.replicas.version" and bool(found.value) is not elr.value:
        return replace(found, value=int(elr.value), why=elr.reason)
    return found


def _is_about(one: Given, topic: Topic | None) -> bool:
    """Whether a setting applies to the topic: it is not another topic's."""
    return (
        one.layer is not SettingLayer.TOPIC
        or not one.entity
        or (topic is not None and one.entity == topic.name)
    )


def _factor(topic: Topic | None, values: dict[str, Effective]) -> Stated[int]:
    """The topic's replicas as a file shows them, else the default number."""
    if topic is not None and topic.replication_factor is not None:
        return Stated(topic.replication_factor, f"of topic {topic.name} at {topic.place}")
    found = values["default.replication.factor"]
    number = found.value if isinstance(found.value, int) else 1
    said = f"default.replication.factor={number} ({found.why})"
    if topic is not None and topic.left_at is not None:
        name, line, _ = topic.source.place(topic.left_at.start)
        reason = f"{said}, which topic {topic.name} takes by -1 at {name}:{line}"
        return Stated(number, reason, assumed=found.origin is None)
    return Stated(number, f"{said}, for a topic without a number", assumed=True)
