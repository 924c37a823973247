"""Inventories of Ansible for the roles of confluent.platform: brokers and controllers by their groups."""

from __future__ import annotations

from modelcheck.kafka.settings.keys.versions import platform_release
from modelcheck.kafka.settings.readers.formats.tree import Node, entries, get, text_of, walk
from modelcheck.kafka.settings.readers.gathered import Gathered
from modelcheck.kafka.settings.readings import About

_BROKERS = "kafka_broker"
_CONTROLLERS = {"kafka_controller": "kraft", "zookeeper": "zookeeper"}  # by their groups
_PACKAGE = "confluent_package_version"


def read_inventory(gathered: Gathered, document: Node) -> None:
    """Add the number of brokers, the controller and the release, if a document is such an inventory."""
    groups = {key.text: (key, value) for key, value in entries(document)}
    groups |= {key.text: (key, value) for key, value in entries(get(document, "all", "children"))}
    if _BROKERS not in groups or get(groups[_BROKERS][1], "hosts") is None:
        return
    at, brokers = groups[_BROKERS]
    hosts = entries(get(brokers, "hosts"))
    gathered.fact(About.BROKERS, at, f"the hosts of {_BROKERS}", str(len(hosts)))
    found = next((name for name in _CONTROLLERS if name in groups), None)
    if found is not None:
        gathered.fact(About.CONTROLLER, groups[found][0], f"the group {found}", _CONTROLLERS[found])
    for node in walk(document):
        package = get(node, _PACKAGE)
        release = platform_release(text_of(package) or "")
        if package is not None and release is not None:
            gathered.fact(About.VERSION, package, f"{_PACKAGE} {text_of(package)}", release)
