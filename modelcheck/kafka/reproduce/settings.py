"""A configuration of the model as settings of a real Kafka; what no release at hand does is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NoReturn

from modelcheck.asking.overrides import as_typed
from modelcheck.kafka.reproduce.installation import Home
from spec.diagnostics import Diagnostic, SpecError
from spec.frozen import frozen
from spec.model.ir import Model, Scope
from spec.model.types import Enum
from spec.source import Source

ELR = "eligible.leader.replicas.version"
DRIVEN_SINCE = (3, 0)
DIRECTORIES_SINCE = (3, 7)
ELR_SINCE = (4, 0)
UNCLEAN_SINCE = (3, 9)
ALWAYS: Mapping[str, tuple[str | int | bool, str]] = {  # what every KRaft release that we drive does
    "truncation": ("kip_279", "followers cut their logs by leader epoch since 2.0"),
    "epoch_reached": (True, "a replica joins the ISR at its leader's epoch since 2.0.1"),
    "fenced_kept_out": (True, "brokers without a session are kept out of the ISR since 3.3"),
    "restarts_noticed": (True, "the controller notices every restart"),
    "strict_min_isr": (True, "the high watermark waits for min.insync.replicas since 3.7"),
    "clean_restart_known": (True, "a clean restart is distinguished from a crash"),
}
LATER: Mapping[str, tuple[tuple[int, int], str]] = {  # what some releases that are driven do not do
    "fenced_kept_out": ((3, 3), "before 3.3 brokers without a session may join the ISR (KIP-841)"),
    "strict_min_isr": (
        (3, 7),
        "before 3.7 the high watermark does not wait for min.insync.replicas (KAFKA-15583)",
    ),
}
ONLY: Mapping[str, tuple[tuple[int, int], str]] = {  # what each release does in one way, by when it changed
    "directory_keeps_eligible": ((4, 3), "a new directory leaves who is eligible alone from 4.3 on"),
}
ACKS: Mapping[str | int | bool, int | str] = {"zero": 0, "one": 1, "all": "all"}


@frozen
class ClusterSettings:
    """The settings of brokers, controller, topic and producer, and the features to format with."""

    acks: int | str
    topic: Mapping[str, str]
    brokers: Mapping[str, str]
    controller: Mapping[str, str]
    features: tuple[str, ...]
    elr: bool

    def words(self) -> tuple[str, ...]:
        """The settings as Kafka writes them: `acks=all`, those of topic and brokers, features."""
        given = (f"{key}={value}" for key, value in (*self.topic.items(), *self.brokers.items()))
        return (f"acks={self.acks}", *given, *self.features)


def settings(model: Model, scope: Scope, home: Home) -> ClusterSettings:
    """The cluster settings for a configuration. Raises SpecError if this release cannot have it."""
    config = {entry.name: _value(entry.type, scope.config[entry.name]) for entry in model.configs}
    for name, (value, why) in ALWAYS.items():
        if config.get(name, value) != value and home.release >= LATER.get(name, (DRIVEN_SINCE, ""))[0]:
            refuse(f"{name} = {as_typed(config[name])}", f"Kafka {home.version} cannot be made to: {why}")
    for name, (since, why) in ONLY.items():
        does = home.release >= since
        if config.get(name, does) is not does:
            refuse(f"{name} = {as_typed(config[name])}", f"Kafka {home.version} cannot be made to: {why}")
    if home.release < DRIVEN_SINCE:
        why = "the preview of KRaft before 3.0 is not driven, nor are clusters with ZooKeeper"
        refuse(f"Kafka {home.version}", why)
    if config.get("directories") is True and home.release < DIRECTORIES_SINCE:
        why = f"the controller of Kafka {home.version} knows no directories: they came with 3.7"
        refuse("directories = true", why)
    elr = config.get("elr") is True
    has_elr = home.release >= ELR_SINCE
    if elr and not has_elr:
        refuse("elr = true", f"Kafka {home.version} has no eligible leader replicas: they came with 4.0")
    topic = {
        "min.insync.replicas": str(config.get("min_isr", 1)),
        "unclean.leader.election.enable": as_typed(config.get("unclean", False)),
    }
    if config.get("flush") == "every_message":
        topic["flush.messages"] = "1"
    features = (f"{ELR}={int(elr)}",) if has_elr else ()
    return ClusterSettings(ACKS[config.get("acks", "all")], topic, {}, {}, features, elr)


def at_brokers(given: ClusterSettings) -> ClusterSettings:
    """The settings with `min.insync.replicas` only in the brokers' files."""
    name = "min.insync.replicas"
    rest = {key: value for key, value in given.topic.items() if key != name}
    return replace(given, topic=rest, brokers={**given.brokers, name: given.topic[name]})


def as_read(model: Model, scope: Scope, home: Home, *, at_brokers_only: bool) -> tuple[Scope, str]:
    """The configuration as this release interprets the settings, and what it reads differently."""
    config = {entry.name: _value(entry.type, scope.config[entry.name]) for entry in model.configs}
    read: dict[str, bool | int] = {}
    reasons = []
    for name, (since, why) in LATER.items():
        if home.release < since and config.get(name) is True:
            read[name] = False
            reasons.append(why)
    if config.get("unclean") is True and home.release < UNCLEAN_SINCE:
        read["unclean"] = False
        reasons.append(
            "before 3.9 the controller of KRaft elects uncleanly only when it is asked (KAFKA-12670)"
        )
    if at_brokers_only and config.get("elr") is True:
        read["min_isr"] = 1
        reasons.append(
            "with eligible leader replicas it takes no min.insync.replicas from a broker's file (KAFKA-16540)"
        )
    return replace(scope, config={**scope.config, **read}), "; ".join(reasons)


def refuse(what: str, why: str) -> NoReturn:
    """Raise the error that this release of Kafka cannot do something."""
    raise SpecError([Diagnostic("R0931", Source("reproduce", ""), None, f"{what}: {why}")])


def _value(of: object, value: object) -> str | int | bool:
    """A value of the model as Kafka's settings have it."""
    if isinstance(of, Enum) and isinstance(value, int):
        return of.members[value]
    assert isinstance(value, str | int | bool)
    return value
