"""Settings that do not go together: what Kafka would refuse, and what it would do with the rest."""

from __future__ import annotations

from collections.abc import Mapping

from modelcheck.kafka.settings.keys.releases import release_of
from modelcheck.kafka.settings.keys.versions import Version, of, protocol
from modelcheck.kafka.settings.provenance import ResolutionDiagnostics, Stated
from modelcheck.kafka.settings.readings import Given, SettingLayer, Topic
from modelcheck.kafka.settings.resolution.precedence import Effective
from modelcheck.kafka.settings.resolution.switches import Controller, Switches
from spec.diagnostics import Diagnostic, Note

_LEAVES_REPLICAS = of(2, 4)
_KRAFT_ALONE = of(4, 0)
_OLDEST_LEVEL = protocol("3.3-IV3")  # of metadata.version, in releases with KRaft alone (KIP-896)


def find_conflicts(
    release: Stated[Version],
    brokers: Stated[int],
    topic: Topic | None,
    values: Mapping[str, Effective],
    chosen: Switches,
    findings: ResolutionDiagnostics,
) -> None:
    """Add a diagnostic for every contradiction among the effective settings."""
    _min_insync_above_factor(release.value, topic, values, chosen, findings)
    _factor_above_brokers(brokers, topic, values, chosen, findings)
    _no_replicas(release, topic, findings)
    _idempotence_without_all(values, findings)
    _two_controllers(release.value, values, findings)
    _unclean_without_effect(release.value, values, chosen, findings)
    _protocol_ahead(release, values, findings)
    _protocol_behind(release, values, findings)
    _min_insync_of_the_controllers(values, chosen, findings)
    _unclean_of_the_controllers(values, chosen, findings)
    _elr_of_an_old_level(values, findings)
    _acks_of_several(values, chosen, findings)
    _min_insync_unused(values, chosen, findings)


def _min_insync_above_factor(
    release: Version,
    topic: Topic | None,
    values: Mapping[str, Effective],
    chosen: Switches,
    findings: ResolutionDiagnostics,
) -> None:
    """Warn if min.insync.replicas exceeds the replicas."""
    found = values["min.insync.replicas"]
    factor = chosen.replication_factor.value
    if found.origin is None or not isinstance(found.value, int) or found.value <= factor:
        return
    notes = _factor_note(topic, values)
    replicas = f"{factor} replica{'s' if factor != 1 else ''}"
    if not notes:
        advice = "no file has the topic's number of replicas: give kafka-topics --describe, or the KafkaTopic"
    elif release >= release_of("strict_min_isr", value=True):
        advice = f"Kafka {release} counts it as {factor}; write min.insync.replicas={factor} to match"
    else:
        advice = (
            f"Kafka {release} refuses every write with acks=all; "
            f"at most {factor} can be met, and {max(1, factor - 1)} while a replica is down"
        )
    one = found.origin
    owner = "the topic's" if notes else "the default of"
    message = f"`min.insync.replicas={found.value}` is more than {owner} {replicas}"
    findings.warnings.append(Diagnostic("R0716", one.source, one.span, message, help=advice, notes=notes))


def _factor_note(topic: Topic | None, values: Mapping[str, Effective]) -> tuple[Note, ...]:
    """A note with the place of the replication factor, if a file gives it."""
    if topic is not None and topic.replication_factor is not None:
        return (Note(topic.source, topic.span, "the topic's replicas are given here"),)
    origin = values["default.replication.factor"].origin
    if origin is not None:
        return (Note(origin.source, origin.span, "the number of replicas is given here"),)
    return ()


def _factor_above_brokers(
    brokers: Stated[int],
    topic: Topic | None,
    values: Mapping[str, Effective],
    chosen: Switches,
    findings: ResolutionDiagnostics,
) -> None:
    """Warn if there are more replicas than brokers."""
    factor = chosen.replication_factor.value
    if factor <= brokers.value:
        return
    message = f"{factor} replicas need as many brokers, and there are {brokers.value} ({brokers.reason})"
    advice = "Kafka refuses to create such a topic; lower the replication factor or add brokers"
    notes = _factor_note(topic, values)
    if notes:
        place = notes[0]
        findings.errors.append(Diagnostic("R0717", place.source, place.span, message, help=advice))


def _no_replicas(release: Stated[Version], topic: Topic | None, findings: ResolutionDiagnostics) -> None:
    """Report a topic without replicas, or whose number is left to brokers in a release before that."""
    if topic is None:
        return
    if topic.left_at is not None and release.value < _LEAVES_REPLICAS:
        message = (
            f"topic {topic.name} leaves its replicas to the brokers, as Kafka does since {_LEAVES_REPLICAS} "
            f"(KIP-464), and it is {release.value} ({release.reason})"
        )
        advice = "give the number of its replicas, or the release with --kafka"
        findings.errors.append(Diagnostic("R0741", topic.source, topic.left_at, message, help=advice))
    if topic.replication_factor == 0:
        message = f"topic {topic.name} has no replicas here, and Kafka makes none without"
        advice = "give its replicas: what kafka-topics --describe prints, or the KafkaTopic"
        findings.errors.append(Diagnostic("R0741", topic.source, topic.span, message, help=advice))


def _idempotence_without_all(values: Mapping[str, Effective], findings: ResolutionDiagnostics) -> None:
    """Warn about idempotence without `acks=all`."""
    acks = values["acks"]
    asking = [values[key] for key in ("enable.idempotence", "transactional.id")]
    wanted = next((one for one in asking if one.origin is not None and one.value not in {False, ""}), None)
    if wanted is None or wanted.origin is None or acks.origin is None or acks.value == "all":
        return
    if wanted.origin.home != acks.origin.home:
        return  # of two producers
    said = "enable.idempotence=true" if wanted.value is True else wanted.key
    instead = "`enable.idempotence=false`" if wanted.value is True else "no transactional.id"
    note = Note(wanted.origin.source, wanted.origin.span, "idempotence is asked for here")
    found = Diagnostic(
        "R0718",
        acks.origin.source,
        acks.origin.span,
        f"`acks={acks.value}` contradicts `{said}`: such a producer does not start",
        help=f"write `acks=all`, or {instead} if records may be lost or doubled",
        notes=(note,),
    )
    findings.errors.append(found)


def _two_controllers(
    release: Version, values: Mapping[str, Effective], findings: ResolutionDiagnostics
) -> None:
    """Warn about settings of ZooKeeper together with those of KRaft."""
    roles, zookeeper = values["process.roles"].origin, values["zookeeper.connect"].origin
    if roles is not None and zookeeper is not None and release < of(4, 0):
        note = Note(roles.source, roles.span, "this makes it a KRaft process")
        message = (
            "`zookeeper.connect` is set along with `process.roles`: KRaft uses ZooKeeper only to migrate"
        )
        findings.warnings.append(
            Diagnostic("R0719", zookeeper.source, zookeeper.span, message, notes=(note,))
        )
    protocol_key = values["inter.broker.protocol.version"].origin
    if roles is not None and protocol_key is not None and release >= of(3, 3):
        message = "KRaft does not use `inter.broker.protocol.version`; its level is `metadata.version`"
        findings.warn("R0719", protocol_key, message)


def _unclean_without_effect(
    release: Version, values: Mapping[str, Effective], chosen: Switches, findings: ResolutionDiagnostics
) -> None:
    """Warn about unclean election enabled where this release's controller never does one."""
    found = values["unclean.leader.election.enable"]
    if found.origin is not None and found.value is True and not chosen.unclean_election.value:
        message = f"`unclean.leader.election.enable=true` has no effect with KRaft in Kafka {release}"
        advice = "an operator can still ask for one, with kafka-leader-election --election-type unclean"
        findings.warn("R0715", found.origin, message, label=chosen.unclean_election.reason, advice=advice)


def _protocol_ahead(
    release: Stated[Version], values: Mapping[str, Effective], findings: ResolutionDiagnostics
) -> None:
    """Warn about a protocol version newer than the release."""
    if release.assumed:
        return
    line = protocol(".".join(map(str, release.value.line)))
    for key in ("inter.broker.protocol.version", "metadata.version", "log.message.format.version"):
        found = values[key]
        if found.origin is not None and isinstance(found.value, str) and protocol(found.value) > line:
            message = (
                f"`{key}={found.value}` is newer than Kafka {release.value}, which does not start with it"
            )
            findings.error(
                "R0729", found.origin, message, advice=f"Kafka is {release.value} {release.reason}"
            )


def _protocol_behind(
    release: Stated[Version], values: Mapping[str, Effective], findings: ResolutionDiagnostics
) -> None:
    """Add an error for a metadata version older than the release starts with."""
    found = values["metadata.version"]
    if found.origin is None or not isinstance(found.value, str):
        return
    if release.value >= _KRAFT_ALONE and protocol(found.value) < _OLDEST_LEVEL:
        message = f"Kafka {release.value} does not start below {_OLDEST_LEVEL}, and this is `{found.value}`"
        advice = f"raise it with an older release first; Kafka is {release.value} {release.reason}"
        findings.error("R0729", found.origin, message, advice=advice)


def _min_insync_of_the_controllers(
    values: Mapping[str, Effective], chosen: Switches, findings: ResolutionDiagnostics
) -> None:
    """Warn about a broker's min.insync.replicas where the controllers' counts."""
    found, counts = values["min.insync.replicas"], chosen.min_insync_replicas
    origin = found.origin
    if not counts.assumed or origin is None or found.value == counts.value:
        return
    message = f"`min.insync.replicas={found.value}` of a broker's file is not what counts: {counts.reason}"
    advice = "give the controllers' file too; or set it for the cluster, or for the topic"
    findings.warn("R0740", origin, message, advice=advice)


def _unclean_of_the_controllers(
    values: Mapping[str, Effective], chosen: Switches, findings: ResolutionDiagnostics
) -> None:
    """Warn about unclean election in a broker's file where the controllers' counts, and is not given."""
    origin, roles = values["unclean.leader.election.enable"].origin, values["process.roles"]
    if origin is None or origin.layer is not SettingLayer.BROKER_STATIC or roles.origin is None:
        return
    its = [one for one in (roles.origin, *roles.overridden) if one.home == origin.home]
    if any("controller" in one.value for one in its) or not its:
        return
    if chosen.unclean_election.value and chosen.controller.value is Controller.KRAFT:
        message = (
            "`unclean.leader.election.enable=true` of a broker's file is not what counts: with KRaft the"
            " active controller's own value does (KAFKA-12670), and no file of a controller is given"
        )
        advice = "it is reviewed as if the controllers had it too; give their file, or set it for the topic"
        findings.warn("R0740", origin, message, advice=advice)


def _elr_of_an_old_level(values: Mapping[str, Effective], findings: ResolutionDiagnostics) -> None:
    """Warn about ELR enabled at a metadata version without it."""
    level, wanted = values["metadata.version"], values["eligible.leader.replicas.version"]
    if wanted.origin is None or not isinstance(wanted.value, int) or wanted.value < 1:
        return
    if level.origin is None or not isinstance(level.value, str):
        return
    if protocol(level.value) < protocol("4.0-IV1"):
        message = f"eligible leader replicas need metadata.version 4.0-IV1, and it is {level.value}"
        note = Note(level.origin.source, level.origin.span, "the level is given here")
        advice = "they are reviewed as off, as they are in such a cluster"
        one = wanted.origin
        found = Diagnostic("R0739", one.source, one.span, message, help=advice, notes=(note,))
        findings.warnings.append(found)


def _acks_of_several(
    values: Mapping[str, Effective], chosen: Switches, findings: ResolutionDiagnostics
) -> None:
    """Warn about `acks` above 1, which the model treats as 1."""
    origin = values["acks"].origin
    if origin is not None and chosen.acks.value not in ("0", "1", "all"):
        message = f"`acks={chosen.acks.value}` waits for that many replicas, which the model does not have"
        advice = "it is reviewed as acks=1, which promises less; Kafka 0.9.0 dropped such values"
        findings.warn("R0731", origin, message, advice=advice)


def _min_insync_unused(
    values: Mapping[str, Effective], chosen: Switches, findings: ResolutionDiagnostics
) -> None:
    """Note that min.insync.replicas has no effect without `acks=all`."""
    origin: Given | None = values["min.insync.replicas"].origin
    if origin is not None and chosen.acks.value in ("0", "1") and chosen.min_insync_replicas.value > 1:
        findings.notes.append(
            f"min.insync.replicas ({origin.place}) guards only writes with acks=all; "
            f"this producer has acks={chosen.acks.value}"
        )
