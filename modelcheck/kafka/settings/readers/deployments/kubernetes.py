"""Resources of Kubernetes, in YAML or as `kubectl get -o json` prints them, each by its kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import modelcheck.kafka.settings.readers.deployments.confluent as confluent
import modelcheck.kafka.settings.readers.deployments.koperator as koperator
import modelcheck.kafka.settings.readers.deployments.strimzi as strimzi
from modelcheck.kafka.settings.readers.deployments.connectors import read_client_resource
from modelcheck.kafka.settings.readers.deployments.helm import read_values
from modelcheck.kafka.settings.readers.deployments.manifests import WORKLOADS, read_config_map, read_workload
from modelcheck.kafka.settings.readers.deployments.topics import read_topic
from modelcheck.kafka.settings.readers.formats.tree import Node, ScalarNode, entry, get, items, text_of
from modelcheck.kafka.settings.readers.gathered import Gathered
from spec.diagnostics import Diagnostic

GROUPS: dict[str, Callable[[Gathered, Sequence[Node]], None]] = {
    strimzi.GROUP: strimzi.read_strimzi,
    confluent.GROUP: confluent.read_confluent,
    koperator.GROUP: koperator.read_koperator,
}
_CLUSTERS = frozenset("Kafka KafkaCluster KafkaNodePool KafkaTopic Topic KafkaBroker".split())
_VALUES = {  # resources that install a chart: the paths of the chart's name and of its values
    "HelmRelease": (("spec", "chart", "spec", "chart"), ("spec", "values")),  # Flux
    "Application": (("spec", "source", "chart"), ("spec", "source", "helm", "valuesObject")),  # Argo CD
}
_QUIET = frozenset("Namespace Service ServiceAccount KafkaUser KafkaRebalance".split())


def is_resource(node: Node) -> bool:
    """Whether a document is a Kubernetes resource: it has a kind."""
    return text_of(get(node, "kind")) is not None


def read_kubernetes(gathered: Gathered, documents: Sequence[Node]) -> None:
    """Add the settings in Kubernetes resources; unknown kinds are skipped with a note.

    A cluster or topic of an operator that has no reader is a problem (R0733).
    """
    groups: dict[str, list[Node]] = {name: [] for name in GROUPS}
    for node in resources_in(documents):
        gathered.passed += [pair[1].span for name in ("metadata", "status") if (pair := entry(node, name))]
        group = _group(node)
        if group in groups:
            groups[group].append(node)
        else:
            _other(gathered, node, group)
    for name, resources in groups.items():
        GROUPS[name](gathered, resources)


def resources_in(documents: Iterable[Node]) -> Iterator[Node]:
    """The resources in documents, with those inside lists."""
    for node in documents:
        kind = text_of(get(node, "kind")) or ""
        parts = items(get(node, "items"))
        if kind == "List" or (kind.endswith("List") and all(map(is_resource, parts))):
            yield from resources_in(parts)
        elif kind:
            yield node


def _group(node: Node) -> str:
    """The API group of a resource; Strimzi's for its kinds without a version."""
    version = text_of(get(node, "apiVersion"))
    if version is None and text_of(get(node, "kind")) in ("Kafka", "KafkaNodePool", "KafkaTopic"):
        return strimzi.GROUP
    return (version or "").rpartition("/")[0]


def _other(gathered: Gathered, node: Node, group: str) -> None:
    """Add the settings of a workload, ConfigMap or Helm release; skip other resources with a note."""
    kind, name = text_of(get(node, "kind")) or "", text_of(get(node, "metadata", "name")) or ""
    at = get(node, "apiVersion") or get(node, "kind") or node
    if kind in WORKLOADS:
        read_workload(gathered, node)
    elif kind == "ConfigMap":
        read_config_map(gathered, node)
    elif kind in _VALUES and (values := _values_of_kafka(gathered, node, *_VALUES[kind])):
        read_values(gathered, values)
    elif "Topic" in kind and _topics(gathered, node):
        return
    elif "Connect" in kind:
        read_client_resource(gathered, node)
    elif kind == "Kustomization":
        gathered.notes.append(f"{kind} is not applied here: give what `kustomize build` prints")
    elif kind.removesuffix("List") in _CLUSTERS and group:
        message = f"`kind: {kind}` of {group} is none of Strimzi's or Confluent's, and is not read here"
        advice = "give what its operator makes of it: the broker's properties, or kafka-configs --describe"
        gathered.problems.append(Diagnostic("R0733", gathered.source, at.span, message, help=advice))
    elif kind not in _QUIET:
        gathered.notes.append(f"{kind} `{name}` has nothing about replication and was skipped")


def _topics(gathered: Gathered, node: Node) -> bool:
    """Add the topics in a resource of a tool that has no reader of its own; return whether there are any."""
    found = [read_topic(gathered, one) for one in (items(get(node, "items")) or (node,))]
    return any(found)


def _values_of_kafka(
    gathered: Gathered, node: Node, chart: Sequence[str], values: Sequence[str]
) -> tuple[Node, ...]:
    """The values in a resource for a Helm chart of Kafka; none for other charts."""
    named = text_of(get(node, *chart)) or text_of(get(node, "metadata", "name")) or ""
    if "kafka" not in named.lower():
        return ()
    found, text = get(node, *values), get(node, *values[:-1], "values")
    if isinstance(text, ScalarNode):  # as Argo CD takes them too
        return gathered.documents(text)
    return () if found is None else (found,)
