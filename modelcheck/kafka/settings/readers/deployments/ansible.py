"""Ansible: topics that tasks create, and the variables of roles that set up brokers."""

from __future__ import annotations

from collections.abc import Sequence

from modelcheck.kafka.settings.keys.catalogue import find
from modelcheck.kafka.settings.keys.key import Reader
from modelcheck.kafka.settings.readers.commands import read_commands
from modelcheck.kafka.settings.readers.deployments.helm import read_release
from modelcheck.kafka.settings.readers.deployments.topics import read_topic
from modelcheck.kafka.settings.readers.file_kinds import LAYER_OF
from modelcheck.kafka.settings.readers.formats.tree import (
    MappingNode,
    Node,
    entries,
    items,
    walk,
)
from modelcheck.kafka.settings.readers.gathered import Gathered

_PLAY = ("hosts", "tasks", "roles", "import_playbook")
_TASK = ("name", "register", "when", "vars", "include_tasks", "import_tasks", "block", "become")
_OPTIONS = ("options", "config", "configs")


def is_ansible(node: Node) -> bool:
    """Whether a document is a list of plays or tasks."""
    return any(
        isinstance(one, MappingNode) and any(key.text in _PLAY + _TASK for key, _ in one.entries)
        for one in items(node)
    )


def read_ansible(gathered: Gathered, documents: Sequence[Node]) -> None:
    """Add the topics and settings in Ansible tasks, by the names of its Kafka modules."""
    for document in documents:
        for node in walk(document):
            read_topic(gathered, node)
            _settings(gathered, node)
        read_commands(gathered, document)
    for document in documents:
        read_release(gathered, document)


def _settings(gathered: Gathered, node: Node) -> None:
    """Add the Kafka keys of a mapping that is no topic's."""
    for key, value in entries(node):
        inner = [pair for pair in entries(value) if find(pair[0].text) is not None]
        if key.text in _OPTIONS or not inner:
            continue
        for name, given in inner:
            known = find(name.text)
            readers = known.readers_of(name.text) if known is not None else (Reader.BROKER,)
            gathered.setting(name, given, LAYER_OF[readers[-1]])
