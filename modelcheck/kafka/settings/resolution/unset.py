"""Brokers and producers that leave a key out which another of them sets: these have its default.

Of several that differ the worst is reviewed, and one that does not set a key may differ too.  It counts only
where each has a file or a section of its own: a broker with its id, or a service or set, a producer with
its file.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from modelcheck.kafka.settings.keys.key import CatalogueKey, Reader, parse
from modelcheck.kafka.settings.keys.versions import Version
from modelcheck.kafka.settings.provenance import ResolutionDiagnostics
from modelcheck.kafka.settings.readings import About, FileKind, Given, Reading, SettingLayer, is_template
from modelcheck.kafka.settings.resolution.clients import Client
from modelcheck.kafka.settings.resolution.cluster import facts_about
from modelcheck.kafka.settings.resolution.precedence import Effective, not_the_same, release_for
from modelcheck.kafka.settings.resolution.roles import IDS, roles_of
from spec.diagnostics import Note

_AUTOMATIC = "-1"  # an id that ZooKeeper gives
_WITH_ACKS = ("enable.idempotence", "transactional.id")  # which decide acks where it is not given
_FEWEST = 2  # processes that can differ

Processes = Mapping[SettingLayer, Sequence[Given]]


def processes(readings: Sequence[Reading], given: Sequence[Given]) -> Processes:
    """A setting of each broker with an id or a service of its own, and of each producer with a file."""
    static = [one for one in given if one.layer is SettingLayer.BROKER_STATIC]
    roles = roles_of(static)
    brokers = {
        str(one.home) if one.value.strip() == _AUTOMATIC else one.value.strip(): one
        for one in static
        if one.key in IDS and "broker" in roles.get(one.home, "broker")
    }
    services = {
        (reading.source.name, fact.words.rpartition(" ")[2].strip("`"))
        for reading in readings
        if reading.kind in (FileKind.COMPOSE, FileKind.KUBERNETES)
        for fact in facts_about([reading], About.BROKERS)
    }
    named = {one.home for one in brokers.values()}
    for one in static:
        is_alone = one.entity.isdecimal() or (one.source.name, one.entity) in services
        if is_alone and one.home not in named and "broker" in roles.get(one.home, "broker"):
            brokers.setdefault(one.entity, one)
    producers = [
        own[0]
        for reading in readings
        if reading.kind is FileKind.PRODUCER
        and (own := [one for one in reading.given if one.layer is SettingLayer.PRODUCER])
        and not any(one.key in _WITH_ACKS and one.value.strip().lower() not in ("", "false") for one in own)
    ]
    return {SettingLayer.BROKER_STATIC: tuple(brokers.values()), SettingLayer.PRODUCER: producers}


def homes_shown(readings: Sequence[Reading]) -> frozenset[tuple[str, str]]:
    """The homes of settings that kafka-configs shows of some broker's file, without its id."""
    shown = (one for reading in readings if reading.kind is FileKind.CONFIGS for one in reading.given)
    return frozenset(one.home for one in shown if one.layer is SettingLayer.BROKER_STATIC and not one.entity)


def with_other_brokers(
    found: Effective,
    key: CatalogueKey,
    of: Processes,
    release: Version,
    count: int,
    findings: ResolutionDiagnostics,
) -> Effective:
    """The value of a key, or that of the brokers for which it is not set while they run, if that is worse.

    These have the cluster's default, that of their file, or the release's.  Adds a warning (R0724) where one
    differs.  `count` is the number of brokers: where none of the others is in the files, what is shown of a
    broker is taken to be so of all, with a note, but a command for one broker sets nothing for others.
    """
    origin = found.origin
    if origin is None or found.value is None or origin.layer is not SettingLayer.BROKER_DYNAMIC:
        return found
    alone = {one.entity for one in (origin, *found.overridden) if one.layer is origin.layer}
    wide = [one for one in found.overridden if one.layer is SettingLayer.CLUSTER_DYNAMIC]
    static = [one for one in found.overridden if one.layer is SettingLayer.BROKER_STATIC]
    filled_in = any(map(is_template, alone))  # by a loop over brokers, as a rule
    brokers = [one for one in of.get(SettingLayer.BROKER_STATIC, ()) if _id_of(one) not in alone]
    others: list[tuple[Effective, Given]] = []
    if not filled_in and brokers:
        for broker in brokers:
            theirs = wide or [one for one in static if one.home == broker.home]
            whose = f"broker {_id_of(broker)} at {broker.place}"
            others.append((_without_origin(found, key, theirs, whose, release), [broker, *theirs][-1]))
    elif not filled_in and origin.command is not None and len(alone) < count:
        theirs = wide or static
        others.append((_without_origin(found, key, theirs, "the others", release), [origin, *theirs][-1]))
    elif filled_in or len(alone) < count:
        whose = f"broker {min(alone)}" if len(alone) == 1 else f"{len(alone)} brokers"
        findings.notes.append(
            f"{key.name} ({origin.place}) is set for {whose}, and the others are taken to be set like that"
        )
    others = [pair for pair in others if pair[0].value is not None]
    values = [each.value for each, _ in others if each.value is not None]
    worst = key.worst_of([found.value, *values])
    if worst == 0:
        return found
    other, shown = others[worst - 1]
    note = Note(origin.source, origin.span, f"broker {origin.entity} has `{origin.value.strip()}`")
    findings.warnings.append(not_the_same(key, shown, (note,)))
    return other


def _without_origin(
    found: Effective, key: CatalogueKey, theirs: Sequence[Given], whose: str, release: Version
) -> Effective:
    """The value for brokers without the setting that counts: their last, else the release's default."""
    at = theirs[-1] if theirs else None
    text = key.default(release) if at is None else at.value
    why = f"not given for {whose}; the default" if at is None else f"{at.layer} at {at.place}"
    rest = [one for one in (found.origin, *found.overridden) if one is not None and one is not at]
    return Effective(key.name, None if text is None else parse(key, text, release), at, why, tuple(rest))


def _id_of(broker: Given) -> str:
    """The id of a broker, from the setting that names it."""
    return broker.value.strip() if broker.key in IDS else broker.entity


def with_unset(
    found: Effective,
    key: CatalogueKey,
    of: Processes,
    shown: Collection[tuple[str, str]],
    cluster: Version,
    client: Client,
    findings: ResolutionDiagnostics,
) -> Effective:
    """The value of a key, or its default where a broker or a producer leaves it out and that is worse.

    Adds a warning (R0724) where the default differs from the value.  `shown` are homes of settings that are
    those of a broker, whichever it is.
    """
    origin, value = found.origin, found.value
    if origin is None or value is None or not key.worst:
        return found
    own = of.get(origin.layer, ())
    setting = {origin.home, *(one.home for one in found.overridden if one.layer is origin.layer)}
    setting -= {*shown}
    leaving = [one for one in own if one.home not in setting]
    if len(own) < _FEWEST or not leaving or not setting <= {one.home for one in own}:
        return found
    if key.readers == (Reader.PRODUCER,) and key.name != "acks":
        return found
    release = release_for(key, cluster, client)
    text = client.defaults.get(key.name, key.default(release))
    default = None if text is None else parse(key, text, release)
    if default is None or default == value:
        return found
    note = Note(leaving[0].source, leaving[0].span, f"here it is not given, and the default is {text}")
    findings.warnings.append(not_the_same(key, origin, (note,)))
    if key.worst_of([value, default]) == 0:
        return found
    why = (
        f"not given where {leaving[0].key}={leaving[0].value.strip()} is, at {leaving[0].place}; the default"
    )
    return Effective(key.name, default, None, why, (origin, *found.overridden))
