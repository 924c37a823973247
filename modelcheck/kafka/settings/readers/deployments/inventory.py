"""Inventories of Ansible for the roles of confluent.platform: brokers and controllers by their groups."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from modelcheck.kafka.settings.keys.versions import platform_release
from modelcheck.kafka.settings.readers.formats.tree import Node, ScalarNode, entries, get, text_of, walk
from modelcheck.kafka.settings.readers.gathered import Gathered
from modelcheck.kafka.settings.readings import About, SettingLayer
from spec.source import Span

_BROKERS = "kafka_broker"
_CONTROLLERS = {"kafka_controller": "kraft", "zookeeper": "zookeeper"}  # by their groups
_PACKAGE = "confluent_package_version"
_DEEPEST = 10  # groups in groups

Variables = tuple[Node | None, ...]  # mappings of variables, the weakest first
Host = tuple[ScalarNode, Variables]
Entry = tuple[ScalarNode, Node]


def read_inventory(gathered: Gathered, document: Node) -> None:
    """Add the number of brokers, the controller and the release, if a document is such an inventory."""
    groups = {key.text: (key, value) for key, value in entries(document)}
    groups |= {key.text: (key, value) for key, value in entries(get(document, "all", "children"))}
    if _BROKERS not in groups:
        return
    at, brokers = groups[_BROKERS]
    above = (get(document, "all", "vars"),)
    hosts = {host.text: (host, own) for host, own in _hosts(brokers, above, groups)}
    if not hosts:
        return
    _settings(gathered, hosts)
    gathered.fact(About.BROKERS, at, f"the hosts of {_BROKERS}", str(len(hosts)))
    found = next((name for name in _CONTROLLERS if name in groups), None)
    if found is not None:
        gathered.fact(About.CONTROLLER, groups[found][0], f"the group {found}", _CONTROLLERS[found])
    for node in walk(document):
        package = get(node, _PACKAGE)
        release = platform_release(text_of(package) or "")
        if package is not None and release is not None:
            gathered.fact(About.VERSION, package, f"{_PACKAGE} {text_of(package)}", release)


def _hosts(
    group: Node | None, above: Variables, groups: Mapping[str, Entry], deep: int = 0
) -> Iterator[Host]:
    """The hosts of a group and of the groups in it, each with its variables, the weakest first."""
    own = (*above, get(group, "vars"))
    yield from ((host, (*own, value)) for host, value in entries(get(group, "hosts")))
    for child, value in entries(get(group, "children")):
        elsewhere = groups.get(child.text)
        inner = value if entries(value) or elsewhere is None else elsewhere[1]
        if deep < _DEEPEST:
            yield from _hosts(inner, own, groups, deep + 1)


def _settings(gathered: Gathered, hosts: Mapping[str, Host]) -> None:
    """Make what was read of brokers' settings those of single hosts, where hosts differ.

    A variable of a host or of a group takes the place of a whole one that is farther away.
    """
    static = [one for one in gathered.given if one.layer is SettingLayer.BROKER_STATIC and not one.entity]
    places = sorted((one.key_span.start, number) for number, one in enumerate(static))
    found = {
        name: [static[number] for number in _within(places, _effective(variables))]
        for name, (_, variables) in hosts.items()
    }
    if len({tuple((one.key, one.value) for one in own) for own in found.values()}) == 1:
        return
    every = [node.span for _, variables in hosts.values() for node in variables if node is not None]
    gone = dict.fromkeys(static[number] for number in _within(places, every))
    gathered.given = [one for one in gathered.given if one not in gone]
    gathered.passed += [one.key_span for one in gone]
    for name, (host, _) in hosts.items():
        gathered.add("broker.id", name, SettingLayer.BROKER_STATIC, (host.span, host.span), name)
        gathered.given += [replace(one, entity=name) for one in found[name]]


def _effective(variables: Variables) -> list[Span]:
    """Where the values are of a host's variables: for each name the last."""
    named = ((key, value) for node in variables for key, value in entries(node))
    return list({key.text: Span(key.span.start, value.span.end) for key, value in named}.values())


def _within(places: Sequence[tuple[int, int]], spans: Iterable[Span]) -> list[int]:
    """The numbers of the settings that are in some stretch; `places` are where each begins, in order."""
    found: set[int] = set()
    for at in spans:
        first, behind = (bisect_left(places, (end,)) for end in (at.start, at.end))
        found.update(number for _, number in places[first:behind])
    return sorted(found)
