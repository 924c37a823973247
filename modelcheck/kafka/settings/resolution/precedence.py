"""From everything that is given for a key to the one value that counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from modelcheck.kafka.settings.keys.catalogue import (
    MODELLED,
    NAME_LIFETIMES,
    find,
    is_irrelevant,
    known,
    meant,
)
from modelcheck.kafka.settings.keys.irrelevant import PRODUCER_TOO
from modelcheck.kafka.settings.keys.key import BadValueError, CatalogueKey, Reader, Standing, Value, parse
from modelcheck.kafka.settings.keys.versions import NEWEST, Version
from modelcheck.kafka.settings.provenance import FILLED_IN, Remark, ResolutionDiagnostics
from modelcheck.kafka.settings.readers.file_kinds import is_between_brokers_and_topics, misplaced
from modelcheck.kafka.settings.readings import PRECEDENCE, Given, SettingLayer, is_template
from modelcheck.kafka.settings.resolution.clients import Client
from spec.diagnostics import Diagnostic, Note
from spec.frozen import frozen

_READERS = {
    SettingLayer.PRODUCER: Reader.PRODUCER,
    SettingLayer.TOPIC: Reader.TOPIC,
    SettingLayer.CREATOR: Reader.BROKER,
    SettingLayer.BROKER_DYNAMIC: Reader.BROKER,
    SettingLayer.CLUSTER_DYNAMIC: Reader.BROKER,
    SettingLayer.BROKER_STATIC: Reader.BROKER,
}
_WITH_ALIASES = "librdkafka"  # to which `acks` is another name of `request.required.acks`
_SHOWN = 3  # other values in a warning
_SLIPS_LOOKED_AT = 500  # names; a file with more unknown ones is no slip of the pen


@frozen
class Effective:
    """The effective value of a key, with its place, or the reason for the default.

    `origin` is None for a default; `overridden` are the settings that it wins
    over; `value` is None when Kafka of this release has no such key or default,
    and `absent` is what it does without the key.
    """

    key: str
    value: Value | None
    origin: Given | None
    why: str
    overridden: tuple[Given, ...] = ()
    absent: str = ""

    def as_json(self) -> dict[str, object]:
        """The value and its origin as JSON data."""
        return {
            "key": self.key,
            "value": self.value,
            "origin": self.origin.as_json() if self.origin else None,
            "why": self.why,
            "absent": self.absent,
            "overridden": [g.as_json() for g in self.overridden],
        }


def sorted_out(
    given: Iterable[Given], cluster: Version, client: Client, findings: ResolutionDiagnostics
) -> dict[str, list[Given]]:
    """The settings that may be effective, by the main name of their key.

    What does not count goes into the findings: keys that are outside the model,
    without influence, unknown, misspelt (R0712), or not in this release (R0715).
    """
    groups: dict[str, list[Given]] = {key.name: [] for key in MODELLED}
    slips: dict[str, str] = {}
    given = tuple(given)
    seen = _last_ones(given)
    for one in given:
        key = find(one.key)
        release = cluster if key is None else release_for(key, cluster, client)
        if one.layer is SettingLayer.CONSUMER and (key is None or Reader.CONSUMER not in key.readers):
            findings.ignored.append(Remark(one, "a consumer's setting"))
        elif one.layer is SettingLayer.PRODUCER and one.key in PRODUCER_TOO:
            findings.ignored.append(Remark(one, "of a producer it has no part in durability or availability"))
        elif key is None:
            _unplaced(one, slips, findings)
        elif not (_is_of_a_library(key, client) or _is_read(key, one, release, findings)):
            continue
        elif key.standing is Standing.MODELLED:
            if _is_misplaced(key, one, findings):
                findings.ignored.append(Remark(one, "not read there"))
            else:
                groups[key.name].append(one)
        elif seen[_place(one)] is not one:
            findings.ignored.append(Remark(one, "given again further down, and the last one counts"))
        elif one.layer is not SettingLayer.DEFAULT:
            _note_without_effect(key, one, release, findings)
    return groups


def _last_ones(given: Iterable[Given]) -> Mapping[object, Given]:
    """For each key and place the last setting, which replaces those before it."""
    return {_place(one): one for one in given}


def _place(one: Given) -> object:
    """What identifies the place of a setting: the file, section and layer."""
    return one.home, one.layer, one.key


def _unplaced(one: Given, slips: dict[str, str], findings: ResolutionDiagnostics) -> None:
    """Report a setting of an unknown key."""
    if one.layer is SettingLayer.DEFAULT:
        return
    if one.key not in slips and len(slips) < _SLIPS_LOOKED_AT:
        slips[one.key] = meant(one.key)
    wanted = slips.get(one.key, "")
    if wanted:
        _misspelt(one, wanted, findings)
    elif is_irrelevant(one.key):
        findings.ignored.append(Remark(one, "has no part in durability or availability"))
    else:
        findings.unknown.append(Remark(one, "not a key of Kafka that is known here"))


def _misspelt(one: Given, wanted: str, findings: ResolutionDiagnostics) -> None:
    """Report a misspelt key: an error if it affects the answer, else a warning."""
    key = known(wanted)
    found = Diagnostic(
        "R0712",
        one.source,
        one.key_span,
        f"Kafka has no key `{one.key}` and ignores it",
        help=f"did you mean `{wanted}`?",
        label=key.does,
    )
    if key.standing is Standing.MODELLED:
        findings.errors.append(found)
    else:
        findings.warnings.append(found)
        findings.unknown.append(Remark(one, f"perhaps meant as {wanted}"))


def _is_read(key: CatalogueKey, one: Given, release: Version, findings: ResolutionDiagnostics) -> bool:
    """Whether this release reads the setting; a warning if not."""
    first, last = NAME_LIFETIMES.get(one.key, (key.first, key.last))
    too_late = last is not None and release.line > last.line
    too_early = release < first
    if not too_late and not too_early:
        return True
    if one.layer is SettingLayer.DEFAULT:
        return False
    if one.key == "acks" and too_early:
        message = f"in Kafka {release} the producer's key is `request.required.acks`; `acks` is read as that"
        findings.warnings.append(Diagnostic("R0715", one.source, one.key_span, message))
        return True
    when = f"came with Kafka {first}" if too_early else f"was last read by Kafka {last}"
    message = f"`{one.key}` {when}; Kafka {release} ignores it"
    label = key.absent if too_early else ""
    findings.warnings.append(Diagnostic("R0715", one.source, one.key_span, message, label))
    findings.ignored.append(Remark(one, f"{when}, so Kafka {release} does not read it"))
    return False


def _is_misplaced(key: CatalogueKey, one: Given, findings: ResolutionDiagnostics) -> bool:
    """Whether a broker or a topic has a setting that only the other reads, with a warning.

    What clients read is taken for theirs, wherever it is.
    """
    reader, owners = _READERS.get(one.layer), key.readers_of(one.key)
    if reader is None or reader in owners:
        return False
    is_dropped = is_between_brokers_and_topics(reader, owners)
    why = f"a {reader}'s configuration does not set it"
    findings.warnings.append(
        misplaced(one.source, one.span, one.key, owners[-1], why, is_taken=not is_dropped)
    )
    return is_dropped


def _note_without_effect(
    key: CatalogueKey, one: Given, release: Version, findings: ResolutionDiagnostics
) -> None:
    """Record that a setting does not affect the answer."""
    if value_of(key, one, release, findings) is not None:
        findings.outside.append(Remark(one, f"{key.does}: {key.why}"))


def value_of(
    key: CatalogueKey, one: Given, release: Version, findings: ResolutionDiagnostics
) -> Value | None:
    """The value of a setting in this release; None, with an error, if it is invalid."""
    try:
        return parse(key, one.value, release, one.key)
    except BadValueError as error:
        code = "R0720" if key.name == "acks" else "R0713"
        advice = FILLED_IN if is_template(one.value) else error.advice
        findings.error(code, one, error.message, advice=advice)
        return None


def release_for(key: CatalogueKey, cluster: Version, client: Client) -> Version:
    """The release that interprets a key: the producer's or the cluster's."""
    return client.release or NEWEST if key.readers == (Reader.PRODUCER,) else cluster


def _is_of_a_library(key: CatalogueKey, client: Client) -> bool:
    """Whether a client other than Kafka's reads the key."""
    return client.is_another and key.readers == (Reader.PRODUCER,)


def effective(
    key: CatalogueKey,
    given: Sequence[Given],
    cluster: Version,
    client: Client,
    findings: ResolutionDiagnostics,
) -> Effective:
    """The effective value of a key: from the first layer that sets it, else the default.

    In one place the last value counts (R0714).  Of brokers, clients or files that differ, the value with
    which most records can be lost counts (R0724).
    """
    release = release_for(key, cluster, client)
    ranked = sorted(given, key=lambda one: PRECEDENCE.index(one.layer))
    seen, unseen = _last_ones(ranked), ResolutionDiagnostics()
    values = [
        (one, value_of(key, one, release, findings if seen[_place(one)] is one else unseen)) for one in ranked
    ]
    valid = [
        (one, value) for one, value in values if value is not None and one.layer is not SettingLayer.DEFAULT
    ]
    if not valid:
        if _is_of_a_library(key, client):
            own = client.defaults.get(key.name)
            value = None if own is None else parse(key, own, release)
            return Effective(key.name, value, None, f"not given; the default of {client}")
        return _default(
            key, [one for one, _ in values if one.layer is SettingLayer.DEFAULT], release, findings
        )
    rivals = _by_home(key, _rivals(valid), has_aliases=client.library.startswith(_WITH_ALIASES))
    winner, value = rivals[key.worst_of([value for _, value in rivals])]
    _given_twice(winner, value, values, findings)
    _warn_of_rivals(key, winner, value, rivals, findings)
    others = tuple(one for one, _ in valid if one is not winner)
    return Effective(key.name, value, winner, f"{winner.layer} at {winner.place}", others)


def _rivals(valid: Sequence[tuple[Given, Value]]) -> list[tuple[Given, Value]]:
    """The settings of the first layer that has any; brokers are rivals of clients that create topics.

    Which topic was created by the client, and which by a broker's default, no file says.
    """
    layers = [one.layer for one, _ in valid]
    first = layers[:1]
    if first == [SettingLayer.CREATOR]:
        first += [layer for layer in layers if layer is not SettingLayer.CREATOR][:1]
    return [pair for pair in valid if pair[0].layer in first]


def _by_home(
    key: CatalogueKey, rivals: Sequence[tuple[Given, Value]], *, has_aliases: bool
) -> list[tuple[Given, Value]]:
    """The setting that counts in each home: the last, as in Java, under the main name if that is used.

    Where names are aliases of each other, each name's is one: which is set last, no file says.
    """
    homes: dict[object, list[tuple[Given, Value]]] = {}
    for pair in rivals:
        homes.setdefault((pair[0].home, pair[0].key if has_aliases else ""), []).append(pair)
    return [([pair for pair in same if pair[0].key == key.name] or same)[-1] for same in homes.values()]


def _given_twice(
    winner: Given,
    value: Value,
    values: Sequence[tuple[Given, Value | None]],
    findings: ResolutionDiagnostics,
) -> None:
    """Warn (R0714) about settings of one key in one place that disagree."""
    for other, said in values:
        if said == value or other is winner or other.layer is not winner.layer or other.home != winner.home:
            continue
        if other.key != winner.key:
            message = f"`{winner.key}` and `{other.key}` differ, and the first of these counts"
        else:
            message = f"`{winner.key}` is given twice, and the last one counts"
        note = Note(other.source, other.span, f"here it is `{other.value.strip()}`")
        findings.warnings.append(Diagnostic("R0714", winner.source, winner.span, message, notes=(note,)))
        return


def _warn_of_rivals(
    key: CatalogueKey,
    winner: Given,
    value: Value,
    rivals: Sequence[tuple[Given, Value]],
    findings: ResolutionDiagnostics,
) -> None:
    """Warn (R0724) about brokers, clients or files that differ, with the places of the other values."""
    if key.name == "process.roles":
        return  # brokers have one and controllers another
    others = {said: other for other, said in reversed(rivals) if said != value}
    if not others:
        return
    notes = tuple(
        Note(other.source, other.span, f"here it is `{other.value.strip()}`")
        for other in list(reversed(others.values()))[:_SHOWN]
    )
    findings.warnings.append(not_the_same(key, winner, notes))


def not_the_same(key: CatalogueKey, shown: Given, notes: tuple[Note, ...]) -> Diagnostic:
    """The warning (R0724) that brokers, clients or files differ in a key."""
    which = "the value that loses most" if key.worst else "the first"
    message = f"`{key.name}` is not the same everywhere; {which} is reviewed"
    return Diagnostic("R0724", shown.source, shown.span, message, notes=notes)


def _default(
    key: CatalogueKey, shown: Sequence[Given], release: Version, findings: ResolutionDiagnostics
) -> Effective:
    """The default that the cluster shows, which prevails, else the release's."""
    text = key.default(release)
    if shown:
        value = value_of(key, shown[0], release, findings)
        why = f"not given; the default that the cluster shows at {shown[0].place}"
        return Effective(key.name, value, None, why)
    if release < key.first:
        why = f"came with Kafka {key.first}" + (f"; before, {key.absent}" if key.absent else "")
        return Effective(key.name, None, None, why, absent=key.absent)
    if not key.exists_in(release):
        return Effective(key.name, None, None, f"was last read by Kafka {key.last}")
    if text is None:
        return Effective(key.name, None, None, "not given, and it has no default")
    since = key.default_since(release)
    return Effective(key.name, parse(key, text, release), None, f"not given; the default since Kafka {since}")
