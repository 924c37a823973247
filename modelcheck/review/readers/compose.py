"""Docker Compose: each service that runs a broker, by its image and its environment."""

from __future__ import annotations

from collections.abc import Sequence

from modelcheck.review.found import About, Fact
from modelcheck.review.readers.commands import read_commands, starts_a_broker
from modelcheck.review.readers.environment import (
    client_key,
    is_a_controller,
    read_image,
    read_variables,
    runs_a_broker,
    variables_of,
)
from modelcheck.review.readers.gathered import Gathered
from modelcheck.review.readers.tree import Mapping, Node, Scalar, entries, get, text_of


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
            if isinstance(service, Mapping):
                _service(gathered, name, service)


def _service(gathered: Gathered, name: Scalar, service: Mapping) -> None:
    image = get(service, "image")
    variables = variables_of(get(service, "environment"))
    read_commands(gathered, service, name.text)
    if not (runs_a_broker(text_of(image) or "", variables) or starts_a_broker(service)):
        read_variables(gathered, [one for one in variables if client_key(one.name.text)])
        return
    if isinstance(image, Scalar):
        read_image(gathered, image)
    if is_a_controller(variables):
        gathered.notes.append(f"service {name.text} is a controller of its own; it keeps no topics")
        gathered.passed.append(service.span)
        return
    read_variables(gathered, variables, name.text)
    copies = gathered.count(get(service, "deploy", "replicas") or get(service, "scale"), "replicas")
    gathered.facts.append(
        Fact(
            About.BROKERS,
            str(1 if copies is None else copies),
            gathered.source,
            name.span,
            f"service {name.text}",
        )
    )
    if get(service, "env_file") is not None:
        gathered.notes.append(f"service {name.text} has an env_file, which is not opened; give it as well")
