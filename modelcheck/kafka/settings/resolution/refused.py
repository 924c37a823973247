"""What `kafka-configs` and `kafka-topics` cannot set: where Kafka refuses one key, it refuses the command.

The keys that brokers do not take while they run are in `static.toml`, with their source.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence

from modelcheck.kafka.settings.keys.catalogue import find, is_modelled, meant
from modelcheck.kafka.settings.keys.irrelevant import TOPIC_ONLY, TOPIC_TOO
from modelcheck.kafka.settings.keys.key import Reader
from modelcheck.kafka.settings.keys.versions import Version, of, version
from modelcheck.kafka.settings.provenance import Remark, ResolutionDiagnostics
from modelcheck.kafka.settings.readings import Given, SettingLayer
from spec.diagnostics import Diagnostic, Note
from spec.reading import resource

_TABLE = tomllib.loads(resource(__package__, "static.toml"))
_STATIC = frozenset(_TABLE["static"])
_UNTIL = {name: version(first) for name, first in _TABLE["until"].items()}
_SINCE = {name: version(first) for name, first in _TABLE["since"].items()}
_PER_LISTENER = frozenset(_TABLE["per_listener"])
_PER_BROKER = frozenset(_TABLE["per_broker"])
_FIRST = of(1, 1)  # with KIP-226; before, brokers took the rates of their quotas alone
_QUOTAS = frozenset({"leader.replication.throttled.rate", "follower.replication.throttled.rate"})
_MIN_INSYNC = "min.insync.replicas"
_WHILE_RUNNING = (SettingLayer.BROKER_DYNAMIC, SettingLayer.CLUSTER_DYNAMIC)

Refusal = Callable[[Given], str]


def accepted(given: Sequence[Given], release: Version, findings: ResolutionDiagnostics) -> tuple[Given, ...]:
    """The settings without those of commands that this release refuses; a warning (R0715) for each command.

    Of settings that no command makes only those are refused that the answer depends on.
    """
    advice = "take it out of the command, or set it in the brokers' files; as it is, nothing of this is set"
    return _without(given, lambda one: _why_refused(one, release), "R0715", advice, findings)


def sets_min_insync_of_a_broker(given: Sequence[Given]) -> bool:
    """Whether some setting is `min.insync.replicas` of a single broker."""
    return any(map(_is_min_insync_of_a_broker, given))


def accepted_with_elr(given: Sequence[Given], findings: ResolutionDiagnostics) -> tuple[Given, ...]:
    """The settings that count with eligible leader replicas: no `min.insync.replicas` of a broker (R0730).

    Kafka refuses a command with it, and what was set before is removed when the feature is switched on.
    """
    why = f"with eligible leader replicas Kafka takes no `{_MIN_INSYNC}` for a single broker"
    advice = "set it for the cluster or for the topic"
    return _without(
        given, lambda one: why if _is_min_insync_of_a_broker(one) else "", "R0730", advice, findings
    )


def _without(
    given: Sequence[Given], refusal: Refusal, code: str, advice: str, findings: ResolutionDiagnostics
) -> tuple[Given, ...]:
    """The settings without those that are refused, and without what is set by the same commands."""
    refused: dict[object, tuple[Given, str]] = {}
    for one in given:
        if why := refusal(one):
            refused.setdefault(_command(one), (one, why))
    kept = []
    others: dict[object, list[Given]] = {command: [] for command in refused}
    for one in given:
        command = _command(one)
        if command not in refused:
            kept.append(one)
            continue
        culprit, why = refused[command]
        known = {each.key_span for each in (culprit, *others[command])}  # of another turn of a loop
        if one.key_span not in known and is_modelled(one.key):
            others[command].append(one)
        findings.ignored.append(Remark(one, why if one is culprit else f"Kafka refuses its command: {why}"))
    for command, (one, why) in refused.items():
        if is_modelled(one.key) or others[command]:
            notes = tuple(Note(each.source, each.key_span, "not set either") for each in others[command])
            findings.warnings.append(
                Diagnostic(code, one.source, one.key_span, why, help=advice, notes=notes)
            )
    return tuple(kept)


def _command(one: Given) -> object:
    """What identifies the command that makes a setting, else the setting."""
    return one.source.name, one.command or one.key_span


def _is_min_insync_of_a_broker(one: Given) -> bool:
    """Whether a setting is `min.insync.replicas` of a single broker."""
    return one.layer is SettingLayer.BROKER_DYNAMIC and one.key == _MIN_INSYNC


def _why_refused(one: Given, release: Version) -> str:
    """Why this release does not take a setting; empty if it does."""
    if one.command is None and not is_modelled(one.key):
        return ""
    if find(one.key) is None and meant(one.key):
        return ""  # a slip of the pen, which is reported as that
    if one.layer in _WHILE_RUNNING:
        return _why_not_while_running(one, release)
    if one.layer is SettingLayer.TOPIC and one.command is not None and not _is_of_topics(one.key, release):
        return f"topics of Kafka {release} have no `{one.key}`"
    return ""


def _is_of_topics(name: str, release: Version) -> bool:
    """Whether topics have a key."""
    key = find(name)
    if key is None:
        return name in TOPIC_ONLY or name in TOPIC_TOO
    return Reader.TOPIC in key.readers_of(name) and key.exists_in(release)


def _why_not_while_running(one: Given, release: Version) -> str:
    """Why brokers that run do not take a setting; empty if they do."""
    name, first = one.key, _UNTIL.get(one.key, _FIRST)
    refusal = f"Kafka {release} does not change `{name}` while brokers run"
    if name in _STATIC or (name in _SINCE and _SINCE[name] <= release):
        return refusal
    if release < first and name not in _QUOTAS:
        return f"{refusal}; Kafka {first} is the first that does"
    if name in _PER_LISTENER:
        return f"brokers that run take `{name}` for one listener alone, as `listener.name.NAME.{name}`"
    if one.layer is SettingLayer.CLUSTER_DYNAMIC and _is_of_one_broker(name):
        return f"Kafka takes `{name}` for single brokers, and not for all"
    return ""


def _is_of_one_broker(name: str) -> bool:
    """Whether a key is set for single brokers alone."""
    if name.startswith("listener.name."):
        return not name.endswith(tuple(_TABLE["but_for_listeners"]))
    return name in _PER_BROKER or name.startswith(tuple(_TABLE["per_broker_prefixes"]))
