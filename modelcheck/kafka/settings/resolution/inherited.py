"""Settings of topics in what kafka-topics prints, which may be those of the broker that it asked.

Its `Configs` are all that are no default of Kafka's (TopicCommand), since it asks brokers (KIP-377).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from modelcheck.kafka.settings.keys.catalogue import MODELLED, find
from modelcheck.kafka.settings.keys.versions import Version, of
from modelcheck.kafka.settings.provenance import ResolutionDiagnostics
from modelcheck.kafka.settings.readings import FileKind, Given, Reading, SettingLayer
from modelcheck.kafka.settings.resolution.precedence import Effective
from spec.diagnostics import Diagnostic, Note

_ASKS_BROKERS = of(2, 2)  # before, kafka-topics read the topics' own from ZooKeeper
_OF_BROKERS = (SettingLayer.BROKER_DYNAMIC, SettingLayer.CLUSTER_DYNAMIC, SettingLayer.BROKER_STATIC)


def perhaps_inherited(readings: Sequence[Reading], release: Version) -> frozenset[Given]:
    """The settings of topics in the output of kafka-topics that some broker's own settings have too."""
    if release < _ASKS_BROKERS:
        return frozenset()
    every = (one for reading in readings for one in reading.given if one.layer in _OF_BROKERS)
    own = {_said(one) for one in every}
    shown = (one for reading in readings if reading.kind is FileKind.TOPICS for one in reading.given)
    return frozenset(one for one in shown if find(one.key) is not None and _said(one) in own)


def with_inherited(
    values: Mapping[str, Effective],
    others: Mapping[str, Effective],
    unsure: Collection[Given],
    findings: ResolutionDiagnostics,
) -> dict[str, Effective]:
    """The values, with those of brokers in place of what is `unsure` where these are worse.

    Adds a warning (R0724) for each.  `others` are the values if no topic had what is unsure.
    """
    found = dict(values)
    for key in MODELLED:
        value, other = values[key.name], others[key.name]
        if value.origin not in unsure or value.value is None or other.value is None:
            continue
        if value.origin is not None and key.worst_of([value.value, other.value]) == 1:
            found[key.name] = other
            findings.warnings.append(_warning(value.origin, other))
    return found


def _said(one: Given) -> tuple[str, str]:
    """The key under its main name, and the value."""
    key = find(one.key)
    return one.key if key is None else key.name, one.value.strip().lower()


def _warning(shown: Given, other: Effective) -> Diagnostic:
    """The warning that a topic may not have a setting of its own."""
    message = (
        f"`{shown.key}={shown.value.strip()}` may be of one broker: kafka-topics shows brokers' settings as"
        f" the topic's, and others have `{other.key}={str(other.value).lower()}`, which is reviewed"
    )
    advice = "give what kafka-configs --describe --entity-type topics prints, which has the topic's own"
    at = other.origin
    notes = () if at is None else (Note(at.source, at.span, f"here it is `{at.value.strip()}`"),)
    return Diagnostic("R0724", shown.source, shown.span, message, help=advice, notes=notes)
