"""Whose own file counts for a key, where brokers and controllers of KRaft each have one."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from modelcheck.kafka.settings.keys.catalogue import FACTOR, find, is_modelled
from modelcheck.kafka.settings.keys.versions import Version
from modelcheck.kafka.settings.provenance import Remark, ResolutionDiagnostics
from modelcheck.kafka.settings.readings import Given, SettingLayer, Topic
from modelcheck.kafka.settings.resolution.precedence import value_of

# What the active controller takes from its own configuration, whatever brokers have in theirs.
OF_CONTROLLERS = frozenset(
    "unclean.leader.election.enable auto.leader.rebalance.enable eligible.leader.replicas.enable".split()
)
_ROLES = "process.roles"
IDS = ("node.id", "broker.id")


def counted(
    given: Sequence[Given], topic: Topic | None, release: Version, findings: ResolutionDiagnostics
) -> tuple[Given, ...]:
    """The settings of processes that use them; others are ignored, with the reason.

    A controller alone is no broker, and a broker decides nothing for a controller that is in the files too:
    not how many replicas a topic gets either that is created with -1, as it does of one made on first use.
    What is set for a broker while it runs decides nothing for any controller.
    A value that none can have is a mistake all the same: with it the process does not start.
    """
    theirs = OF_CONTROLLERS | ({FACTOR} if topic is not None and topic.left_at is not None else set())
    roles = roles_of(_static(given))
    controllers = {home for home, value in roles.items() if "controller" in value}
    no_controllers = _ids_of(_static(given), roles.keys() - controllers)
    alone, brokers = _alone(given)
    kept, dropped = [], {}
    for one in given:
        key = find(one.key)
        if _is_of_no_controller(one, no_controllers):
            findings.ignored.append(Remark(one, "the active controller's own value counts, and this is none"))
        elif one.layer is not SettingLayer.BROKER_STATIC or key is None or not _is_modelled(one):
            kept.append(one)
        elif key.name in theirs and controllers and one.home in roles.keys() - controllers:
            dropped[key, one.home] = one
            findings.ignored.append(Remark(one, "the controllers' own value counts, and their file is given"))
        elif key.name not in theirs and brokers and one.home in alone:
            dropped[key, one.home] = one
            findings.ignored.append(Remark(one, "of a controller that is no broker; the brokers' own counts"))
        else:
            kept.append(one)
    for (key, _), last in dropped.items():
        if key.exists_in(release):
            value_of(key, last, release, findings)
    return tuple(kept)


def without_controllers(given: Sequence[Given]) -> tuple[Given, ...]:
    """The settings without those of controllers that are no brokers, if brokers are given."""
    alone, brokers = _alone(given)
    return tuple(
        one
        for one in given
        if one.layer is not SettingLayer.BROKER_STATIC or one.home not in alone or not brokers
    )


def _is_of_no_controller(one: Given, no_controllers: set[str]) -> bool:
    """Whether a setting is one of controllers that is made for a node which is none, while it runs."""
    is_made = one.layer is SettingLayer.BROKER_DYNAMIC and one.entity in no_controllers
    return is_made and one.key in OF_CONTROLLERS


def controllers_in(given: Iterable[Given]) -> set[str]:
    """The ids of the controllers of KRaft whose files are given."""
    static = _static(given)
    return _ids_of(static, {home for home, value in roles_of(static).items() if "controller" in value})


def _ids_of(static: Iterable[Given], homes: Container[tuple[str, str]]) -> set[str]:
    """The ids of the processes in these homes."""
    return {one.value.strip() for one in static if one.key in IDS and one.home in homes}


def roles_of(static: Iterable[Given]) -> dict[tuple[str, str], str]:
    """The `process.roles` of each process that sets them."""
    return {one.home: one.value for one in static if one.key == _ROLES}


def _static(given: Iterable[Given]) -> list[Given]:
    """The settings from brokers' own files."""
    return [one for one in given if one.layer is SettingLayer.BROKER_STATIC]


def _alone(given: Sequence[Given]) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """The homes of settings of controllers that are no brokers, and those of brokers."""
    static = _static(given)
    roles = roles_of(static)
    alone = {home for home, value in roles.items() if "controller" in value and "broker" not in value}
    return alone, {one.home for one in static if _is_modelled(one) or one.home in roles} - alone


def _is_modelled(one: Given) -> bool:
    """Whether it is a setting of the model, other than the process roles."""
    return is_modelled(one.key) and one.key != _ROLES
