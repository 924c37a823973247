"""A container, wherever it is described: by its image, its variables and its commands."""

from __future__ import annotations

from collections.abc import Sequence

from modelcheck.kafka.settings.keys.catalogue import find, is_modelled
from modelcheck.kafka.settings.keys.key import Standing
from modelcheck.kafka.settings.readers.commands import read_commands, runs_a_tool, starts_a_broker
from modelcheck.kafka.settings.readers.deployments.environment import (
    EnvironmentVariable,
    broker_key,
    client_key,
    is_a_controller,
    read_image,
    read_variables,
    runs_a_broker,
)
from modelcheck.kafka.settings.readers.deployments.images import is_debezium, meant_variable
from modelcheck.kafka.settings.readers.formats.tree import Node, ScalarNode, get, text_of
from modelcheck.kafka.settings.readers.gathered import Gathered
from modelcheck.kafka.settings.readings import About
from spec.diagnostics import Diagnostic


def read_container(
    gathered: Gathered, node: Node, variables: Sequence[EnvironmentVariable], entity: str, words: str
) -> bool:
    """Add the settings of a container; return whether it is a broker that keeps topics."""
    image = get(node, "image")
    read_commands(gathered, node, entity)
    is_broker = runs_a_broker(text_of(image) or "", variables) and not runs_a_tool(node)
    if not (is_broker or starts_a_broker(node)):
        read_variables(gathered, [one for one in variables if client_key(one.name.text)], entity)
        return False
    if isinstance(image, ScalarNode):
        read_image(gathered, image)
        _controller(gathered, image, variables)
    if is_a_controller(variables):
        gathered.notes.append(f"{words} is a controller of its own; it keeps no topics")
        gathered.passed.append(node.span)
        read_variables(gathered, [one for one in variables if _decides(one)], entity)
        return False
    read_variables(gathered, [one for one in variables if _is_taken(gathered, image, one)], entity)
    return True


def _controller(gathered: Gathered, image: ScalarNode, variables: Sequence[EnvironmentVariable]) -> None:
    """Add the controller that a container starts with by variables that are no settings of Kafka."""
    if is_debezium(image.text):
        by_name = {one.name.text: one.name for one in variables}
        kind = "kraft" if "CLUSTER_ID" in by_name else "zookeeper"
        at = by_name.get("CLUSTER_ID") or by_name.get("ZOOKEEPER_CONNECT")
        if at is not None:
            gathered.fact(About.CONTROLLER, at, at.text, kind)


def _decides(one: EnvironmentVariable) -> bool:
    """Whether a variable sets a key of the model."""
    return is_modelled(broker_key(one.name.text) or "")


def _is_taken(gathered: Gathered, image: Node | None, one: EnvironmentVariable) -> bool:
    """Whether the image uses the variable as a setting; adds a problem (R0712) if it should and does not."""
    key, wanted = broker_key(one.name.text), meant_variable(text_of(image) or "", one.name.text)
    known = find(key) if key is not None and wanted else None
    if known is None:
        return True
    message = f"the image {text_of(image)} makes no setting of `{one.name.text}`"
    label, advice = known.does, f"did you mean `{wanted}`?"
    found = Diagnostic("R0712", gathered.source, one.name.span, message, label, advice)
    (gathered.problems if known.standing is Standing.MODELLED else gathered.warnings).append(found)
    gathered.passed.append(one.name.span)
    return False
