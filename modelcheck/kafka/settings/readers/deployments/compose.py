"""Docker Compose: each service that runs a broker, by its image and its environment."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from modelcheck.kafka.settings.keys.catalogue import find
from modelcheck.kafka.settings.readers.deployments.containers import read_container
from modelcheck.kafka.settings.readers.deployments.environment import EnvironmentVariable, variables_of
from modelcheck.kafka.settings.readers.formats.tree import (
    MappingNode,
    Node,
    ScalarNode,
    entries,
    get,
    rewritten,
    text_of,
)
from modelcheck.kafka.settings.readers.gathered import Gathered
from modelcheck.kafka.settings.readings import About

# `$${NAME}` is for the shell in the container.
_VARIABLE = re.compile(r"(?<!\$)\$\{(?P<name>\w+)(?::?(?P<sign>[-?])(?P<value>[^${}]*))?\}")


def is_compose(node: Node) -> bool:
    """Whether a document is a Compose file: it has services with an image or a build."""
    services = entries(get(node, "services"))
    return any(
        get(one, name) is not None
        for _, one in services
        for name in ("image", "build", "environment", "extends")
    )


def read_compose(gathered: Gathered, documents: Sequence[Node]) -> None:
    """Add the settings of the services; each that runs a broker counts as a broker."""
    for document in documents:
        for name, service in entries(get(document, "services")):
            if isinstance(service, MappingNode):
                _service(gathered, name, service)


def _service(gathered: Gathered, name: ScalarNode, written: MappingNode) -> None:
    """Add the settings of one service."""
    known = len(gathered.given), len(gathered.facts)
    service = rewritten(written, lambda node: _interpolated(gathered, node))
    variables = [
        EnvironmentVariable(one.name, _interpolated(gathered, one.value))
        for one in variables_of(get(written, "environment"))
    ]
    is_a_broker = read_container(gathered, service, variables, name.text, f"service {name.text}")
    copies = get(service, "deploy", "replicas") or get(service, "scale")
    _tell_defaults(gathered, *known, copies if is_a_broker else None)
    if not is_a_broker:
        return
    count = gathered.count(copies, "replicas")
    number = str(1 if count is None else count)
    gathered.fact(About.BROKERS, name, f"service {name.text}", number)
    if (other := text_of(get(service, "extends", "file"))) is not None:
        gathered.notes.append(
            f"service {name.text} extends one of {other}, which is not opened; give it as well"
        )
    if get(service, "env_file") is not None:
        gathered.notes.append(f"service {name.text} has an env_file, which is not opened; give it as well")


def _interpolated(gathered: Gathered, node: ScalarNode) -> ScalarNode:
    """A value with variables replaced by what .env has, else by their defaults (`${NAME:-2}`)."""
    return replace(node, text=_VARIABLE.sub(lambda found: _value(gathered, found), node.text))


def _value(gathered: Gathered, found: re.Match[str]) -> str:
    """The value of a variable; its name as it is written if it has none."""
    default = found["value"] if found["sign"] == "-" else found[0]
    return gathered.variables.get(found["name"], default)


def _tell_defaults(gathered: Gathered, settings: int, facts: int, copies: Node | None) -> None:
    """Add a note for each variable's default in the settings read after these counts."""
    spans = [one.value_span for one in gathered.given[settings:] if find(one.key) is not None]
    spans += [fact.span for fact in gathered.facts[facts:]]
    for span in (*spans, *([copies.span] if copies is not None else [])):
        for found in _VARIABLE.finditer(gathered.source.text, span.start, span.end):
            if found["sign"] == "-" and found["name"] not in gathered.variables:
                gathered.notes.append(
                    f"{found[0]} is taken as {found['value'] or 'nothing'}: give its value where "
                    f"{found['name']} is set, in the shell or in .env"
                )
