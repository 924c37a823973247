"""Kafka Connect and what resembles it: the clients of workers, connectors, mirrors and bridges."""

from __future__ import annotations

from modelcheck.kafka.settings.keys.key import spelled
from modelcheck.kafka.settings.readers.deployments.environment import variables_of
from modelcheck.kafka.settings.readers.formats.tree import Node, ScalarNode, entries, get, items, text_of
from modelcheck.kafka.settings.readers.gathered import Gathered

_CONFIGS = frozenset({"config", "configs", "config.overrides", "settings", "configuration"})


def is_connector(node: Node) -> bool:
    """Whether a document is a connector as Connect's REST interface takes it."""
    return "connector.class" in [key.text for one in (node, get(node, "config")) for key, _ in entries(one)]


def read_clients(gathered: Gathered, node: Node, path: str = "") -> None:
    """Add what a tree sets of the clients that it configures, each named by the path to it."""
    for key, value in entries(node):
        if isinstance(value, ScalarNode):
            gathered.client(key, value, f"{path}{key.text}")
        else:
            # A mapping of settings adds nothing to their names; other mappings tell whose settings they are.
            within = "" if spelled(key.text) in _CONFIGS else f"{key.text}."
            read_clients(gathered, value, f"{path}{within}")
    for one in items(node):
        if not isinstance(one, ScalarNode):
            read_clients(gathered, one, path)
    if any(isinstance(one, ScalarNode) for one in items(node)):
        for pair in variables_of(node):
            gathered.client(pair.name, pair.value, f"{path}{pair.name.text.strip()}")


def read_client_resource(gathered: Gathered, node: Node) -> None:
    """Add what a resource of an operator sets of its clients."""
    name = text_of(get(node, "metadata", "name")) or text_of(get(node, "kind")) or ""
    before = len(gathered.given) + len(gathered.missing)
    spec = get(node, "spec")
    if spec is not None:
        read_clients(gathered, spec, f"{name}.")
    if len(gathered.given) + len(gathered.missing) == before:
        kind = text_of(get(node, "kind"))
        gathered.notes.append(f"{kind} `{name}` sets nothing that decides, and was passed over")
