"""Kubernetes' own resources: what pods are started with, and the texts in a ConfigMap."""

from __future__ import annotations

from modelcheck.kafka.settings.keys.catalogue import find
from modelcheck.kafka.settings.keys.irrelevant import IRRELEVANT
from modelcheck.kafka.settings.keys.key import Reader
from modelcheck.kafka.settings.readers.commands import read_commands
from modelcheck.kafka.settings.readers.deployments.containers import read_container
from modelcheck.kafka.settings.readers.deployments.environment import (
    EnvironmentVariable,
    read_variables,
    variables_of,
)
from modelcheck.kafka.settings.readers.file_kinds import LAYER_OF, READER_OF, kind_of
from modelcheck.kafka.settings.readers.formats.properties import read_properties
from modelcheck.kafka.settings.readers.formats.tree import Node, ScalarNode, entries, get, items, text_of
from modelcheck.kafka.settings.readers.gathered import Gathered
from modelcheck.kafka.settings.readings import About, SettingLayer
from spec.source import Source

WORKLOADS = frozenset({"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Pod", "Job", "CronJob"})


def read_workload(gathered: Gathered, node: Node) -> None:
    """Add the settings of a workload's containers; each broker counts once per replica."""
    known = len(gathered.facts) + len(gathered.given) + len(gathered.topics) + len(gathered.notes)
    spec = get(node, "spec")
    pod = get(spec, "jobTemplate", "spec", "template", "spec") or get(spec, "template", "spec") or spec
    name = text_of(get(node, "metadata", "name")) or ""
    for container in items(get(pod, "initContainers")):  # they end before a broker begins
        read_commands(gathered, container, name)
    for container in items(get(pod, "containers")):
        _container(gathered, container, get(spec, "replicas"), name)
    if known == len(gathered.facts) + len(gathered.given) + len(gathered.topics) + len(gathered.notes):
        kind = text_of(get(node, "kind"))
        gathered.notes.append(f"{kind} `{name}` has nothing about replication and was skipped")


def _container(gathered: Gathered, node: Node, replicas: Node | None, name: str) -> None:
    """Add the settings of one container of a workload."""
    if not read_container(gathered, node, variables_of(get(node, "env")), name, name):
        return
    copies = gathered.count(replicas, "spec.replicas")
    at = node if replicas is None else replicas
    words = f"spec.replicas of `{name}`" if replicas is not None else f"the broker `{name}`"
    gathered.fact(About.BROKERS, at, words, str(1 if copies is None else copies))


def read_config_map(gathered: Gathered, node: Node) -> None:
    """Add the settings in a ConfigMap: variables, keys, and properties files."""
    name = text_of(get(node, "metadata", "name")) or ""
    read_data(gathered, get(node, "data"), name)


def read_data(gathered: Gathered, data: Node | None, name: str) -> None:
    """Add the settings in a mapping from names to texts."""
    variables = [
        EnvironmentVariable(key, value) for key, value in entries(data) if isinstance(value, ScalarNode)
    ]
    read_variables(gathered, variables, name)
    for one in variables:
        found = find(one.name.text)
        if found is not None or one.name.text in IRRELEVANT:
            reader = Reader.BROKER if found is None else found.readers_of(one.name.text)[-1]
            layer = LAYER_OF[reader]
            gathered.setting(one.name, one.value, layer, name if layer is SettingLayer.BROKER_STATIC else "")
        elif "\n" in one.value.text or "=" in one.value.text:
            read_text_of_properties(gathered, one.value, one.name.text, name)


def read_text_of_properties(gathered: Gathered, node: ScalarNode, title: str, entity: str) -> None:
    """Add the settings of a properties file embedded in another text."""
    source = Source(title, node.text)
    kind = kind_of(source, read_properties(source).entries)
    reader = None if kind is None else READER_OF.get(kind)
    if reader is None:
        read_commands(gathered, node, entity)
        return
    layer = LAYER_OF[reader]
    gathered.properties(node, layer, entity if layer is SettingLayer.BROKER_STATIC else "")
