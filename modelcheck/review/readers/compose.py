"""Docker Compose: each service that runs a broker, by its image and its environment."""

from __future__ import annotations

from collections.abc import Sequence

from modelcheck.review.found import About
from modelcheck.review.readers.containers import read_container
from modelcheck.review.readers.environment import (
    variables_of,
)
from modelcheck.review.readers.gathered import Gathered
from modelcheck.review.readers.tree import MappingNode, Node, ScalarNode, entries, get, text_of


def is_compose(node: Node) -> bool:
    """Whether a document has services, each a mapping, at least one of them with an image or a build."""
    services = entries(get(node, "services"))
    return any(
        get(one, name) is not None
        for _, one in services
        for name in ("image", "build", "environment", "extends")
    )


def read_compose(gathered: Gathered, documents: Sequence[Node]) -> None:
    """Add what the services say; each that runs a broker counts as one."""
    for document in documents:
        for name, service in entries(get(document, "services")):
            if isinstance(service, MappingNode):
                _service(gathered, name, service)


def _service(gathered: Gathered, name: ScalarNode, service: MappingNode) -> None:
    variables = variables_of(get(service, "environment"))
    if not read_container(gathered, service, variables, name.text, f"service {name.text}"):
        return
    copies = gathered.count(get(service, "deploy", "replicas") or get(service, "scale"), "replicas")
    number = str(1 if copies is None else copies)
    gathered.fact(About.BROKERS, name, f"service {name.text}", number)
    if (other := text_of(get(service, "extends", "file"))) is not None:
        gathered.notes.append(
            f"service {name.text} extends one of {other}, which is not opened; give it as well"
        )
    if get(service, "env_file") is not None:
        gathered.notes.append(f"service {name.text} has an env_file, which is not opened; give it as well")
