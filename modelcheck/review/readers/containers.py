"""A container, wherever it is described: by its image, its variables and its commands."""

from __future__ import annotations

from collections.abc import Sequence

from modelcheck.review.readers.commands import read_commands, starts_a_broker
from modelcheck.review.readers.environment import (
    EnvironmentVariable,
    client_key,
    is_a_controller,
    read_image,
    read_variables,
    runs_a_broker,
)
from modelcheck.review.readers.gathered import Gathered
from modelcheck.review.readers.tree import Node, ScalarNode, get, text_of


def read_container(
    gathered: Gathered, node: Node, variables: Sequence[EnvironmentVariable], entity: str, words: str
) -> bool:
    """Add what image, commands and variables of a container say; whether it runs a broker with topics."""
    image = get(node, "image")
    read_commands(gathered, node, entity)
    if not (runs_a_broker(text_of(image) or "", variables) or starts_a_broker(node)):
        read_variables(gathered, [one for one in variables if client_key(one.name.text)], entity)
        return False
    if isinstance(image, ScalarNode):
        read_image(gathered, image)
    if is_a_controller(variables):
        gathered.notes.append(f"{words} is a controller of its own; it keeps no topics")
        gathered.passed.append(node.span)
        return False
    read_variables(gathered, variables, entity)
    return True
