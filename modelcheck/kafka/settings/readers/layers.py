"""Files that a tool lays over each other: the values of a later file replace those of an earlier one.

Helm merges its values, `docker compose -f a -f b` its services, and Kustomize a patch with the resource that
it is for, each as its tool does: mappings key by key, lists as a whole except for the containers and
variables of Kubernetes' own resources, and `environment` by its names.  What was merged is read as one text,
in which each value keeps the place in its own file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from modelcheck.kafka.settings.readers.clients import client_setting
from modelcheck.kafka.settings.readers.deployments.environment import variables_of
from modelcheck.kafka.settings.readers.deployments.images import is_of_something_else
from modelcheck.kafka.settings.readers.deployments.kubernetes import resources_in
from modelcheck.kafka.settings.readers.deployments.spring import for_profile, with_active
from modelcheck.kafka.settings.readers.formats.tree import (
    NOTHING,
    MappingNode,
    Node,
    ScalarNode,
    SequenceNode,
    entries,
    get,
    items,
    shifted,
    text_of,
    walk,
)
from modelcheck.kafka.settings.readings import FileKind, SettingLayer
from spec.frozen import frozen
from spec.source import Source, Span

_VALUES = frozenset(  # what the values of charts of Kafka have at their top
    "replicaCount provisioning controller broker extraConfig extraConfigYaml overrideConfiguration kraft "
    "configurationOverrides defaultReplicationFactor cp-kafka persistence".split()
)
_NEEDED = frozenset("image listeners storage partitions replicas roles selector".split())
_TWO = 2
_REPLACED = frozenset({"command", "entrypoint"})  # lists of Compose; other lists are appended to
_NATIVE = ("v1", "apps/", "batch/")  # groups whose lists Kustomize merges by name
_PROFILE = re.compile(r"application-([\w-]+)\.")
_SHOWN = 6  # paths in a note


@frozen
class FileLayer:
    """The documents of one file among those that are merged."""

    source: Source
    documents: tuple[Node, ...]


@frozen
class Merged:
    """Files as one: their texts joined, their documents merged, and what is replaced in earlier ones."""

    source: Source
    documents: tuple[Node, ...]
    replaced: tuple[Span, ...]
    notes: tuple[str, ...]


@dataclass(slots=True)
class _Replaced:
    """The values that later files replaced, each with its path."""

    spans: list[Span] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)


Lists = Callable[[str, SequenceNode, SequenceNode, _Replaced], Node]


def is_layer(kind: FileKind, layer: FileLayer) -> bool:
    """Whether a file is of those that its tool lays over each other.

    Of two applications' configurations none replaces the other; their clients are two.
    """
    match kind:
        case FileKind.COMPOSE | FileKind.KUBERNETES | FileKind.SPRING:
            return True
        case FileKind.HELM:
            keys = {key.text for document in layer.documents for key, _ in entries(document)}
            name = layer.source.name.rpartition("/")[2].lower()
            is_values = ("values" in name or bool(keys & _VALUES)) and not is_of_something_else(name)
            return is_values and not any(map(_has_a_producer, layer.documents))
        case _:
            return False


def merge(kind: FileKind, layers: Sequence[FileLayer]) -> Merged:
    """The files as one, the last one on top.  Costs time linear in the texts."""
    text, parts, moved = "", [], list[tuple[Node, ...]]()
    for layer in layers:
        parts.append((len(text), layer.source.name))
        moved.append(tuple(shifted(document, len(text)) for document in layer.documents))
        text += layer.source.text if layer.source.text.endswith("\n") else layer.source.text + "\n"
    names = " and ".join(layer.source.name for layer in layers)
    source = Source(names, text, tuple(parts))
    gone = _Replaced()
    match kind:
        case FileKind.KUBERNETES:
            documents = _resources(moved, gone)
        case FileKind.COMPOSE:
            documents = (_all(moved, _compose_lists, gone),)
        case FileKind.HELM:
            documents = (_all(moved, _replaced_lists, gone),)
        case _:
            documents = _profiles(layers, moved, len(text))
    return Merged(source, documents, tuple(gone.spans), tuple(_notes(gone)))


def _notes(gone: _Replaced) -> Iterator[str]:
    """A note on what later files replaced, if they replaced anything."""
    if gone.paths:
        paths = list(dict.fromkeys(gone.paths))
        more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
        yield f"a later file replaces {', '.join(paths[:_SHOWN])}{more} of an earlier one"


def _has_a_producer(document: Node) -> bool:
    """Whether some key is a producer's."""
    return any(
        (found := client_setting(key.text)) is not None and found[0] is SettingLayer.PRODUCER
        for node in walk(document)
        for key, _ in entries(node)
    )


def _all(files: Sequence[tuple[Node, ...]], lists: Lists, gone: _Replaced) -> Node:
    """The documents of all files merged into one."""
    first, *rest = (document for file in files for document in file)
    found = first
    for other in rest:
        found = _merged(found, other, lists, gone, "")
    return found


def _merged(one: Node, other: Node, lists: Lists, gone: _Replaced, path: str) -> Node:
    """Two values merged, the other on top; what it replaces goes to `gone`."""
    if path.endswith(".environment"):
        one, other = _variables(one), _variables(other)
    if isinstance(one, MappingNode) and isinstance(other, MappingNode):
        return _mappings(one, other, lists, gone, path)
    if isinstance(one, SequenceNode) and isinstance(other, SequenceNode):
        return lists(path, one, other, gone)
    if text_of(one) != text_of(other) or not isinstance(one, ScalarNode):
        gone.paths.append(path.removeprefix("."))
    gone.spans.append(one.span)
    return other


def _mappings(one: MappingNode, other: MappingNode, lists: Lists, gone: _Replaced, path: str) -> MappingNode:
    """Two mappings merged; an empty value on top takes an entry away."""
    above = {key.text: (key, value) for key, value in other.entries}
    made = []
    for key, value in one.entries:
        on_top = above.pop(key.text, None)
        if on_top is None:
            made.append((key, value))
            continue
        gone.spans.append(key.span)
        if text_of(on_top[1]) in NOTHING:
            gone.spans += [value.span, on_top[0].span]
            gone.paths.append(f"{path}.{key.text}".removeprefix("."))
        else:
            made.append((on_top[0], _merged(value, on_top[1], lists, gone, f"{path}.{key.text}")))
    return MappingNode((*made, *above.values()), other.span)


def _variables(node: Node) -> Node:
    """An `environment` as a mapping, as it also may be written."""
    if not isinstance(node, SequenceNode):
        return node
    return MappingNode(tuple((one.name, one.value) for one in variables_of(node)), node.span)


def _replaced_lists(path: str, one: SequenceNode, other: SequenceNode, gone: _Replaced) -> Node:
    """The list on top, as a whole."""
    gone.spans.append(one.span)
    gone.paths.append(path.removeprefix("."))
    return other


def _compose_lists(path: str, one: SequenceNode, other: SequenceNode, gone: _Replaced) -> Node:
    """Both lists, or of commands the one on top."""
    if path.rpartition(".")[2] in _REPLACED:
        return _replaced_lists(path, one, other, gone)
    return SequenceNode((*one.items, *other.items), other.span)


def _lists_by_name(path: str, one: SequenceNode, other: SequenceNode, gone: _Replaced) -> Node:
    """Lists of named mappings merged by name, other lists replaced."""
    names = [text_of(get(item, "name")) for item in (*one.items, *other.items)]
    if None in names:
        return _replaced_lists(path, one, other, gone)
    above = {text_of(get(item, "name")): item for item in other.items}
    made = []
    for item in one.items:
        name = text_of(get(item, "name"))
        on_top = above.pop(name, None)
        found = item if on_top is None else _merged(item, on_top, _lists_by_name, gone, f"{path}.{name}")
        made.append(found)
    return SequenceNode((*made, *above.values()), other.span)


# --- Spring


def _profiles(layers: Sequence[FileLayer], files: Sequence[tuple[Node, ...]], end: int) -> tuple[Node, ...]:
    """The documents of all files, those of `application-NAME` for the profile NAME.

    A single such file chooses its profile; of several none is known to be active.
    """
    named = [_PROFILE.match(layer.source.name.rpartition("/")[2]) for layer in layers]
    names = [found[1] if found else "" for found in named]
    made = [
        for_profile(document, name) if name else document
        for name, file in zip(names, files, strict=True)
        for document in file
    ]
    chosen = set(filter(None, names))
    return (*made, *((with_active(chosen.pop(), end),) if len(chosen) == 1 else ()))


# --- Kubernetes


def _resources(files: Sequence[tuple[Node, ...]], gone: _Replaced) -> tuple[Node, ...]:
    """The resources of all files, each patch merged with the resource that it is for.

    The patch may come first.  Within one file nothing is a patch.
    """
    found: dict[object, Node] = {}
    rest: list[Node] = []
    for documents in files:
        here: set[object] = set()
        for node in resources_in(documents):
            identity = _identity(node)
            other = found.get(identity)
            if identity in here or other is None or not text_of(get(node, "metadata", "name")):
                rest += [node] if other is not None else []
                found.setdefault(identity, node)
                here.add(identity)
                continue
            below, above = (other, node) if _is_patch(node, other) else (node, other)
            native = (text_of(get(below, "apiVersion")) or "").startswith(_NATIVE)
            lists = _lists_by_name if native else _replaced_lists
            name = text_of(get(node, "metadata", "name"))
            found[identity] = _merged(below, above, lists, gone, f"{text_of(get(node, 'kind'))} {name}: ")
    return (*found.values(), *rest)


def describes_twice(layers: Sequence[FileLayer]) -> bool:
    """Whether two files describe one resource as a whole, so that neither is a patch."""
    found: dict[object, tuple[int, Node]] = {}
    for at, layer in enumerate(layers):
        for node in resources_in(layer.documents):
            file, other = found.setdefault(_identity(node), (at, node))
            if file != at and not (_is_patch(node, other) or _is_patch(other, node)):
                return True
    return False


def _is_patch(node: Node, whole: Node) -> bool:
    """Whether a resource is a part of another: it leaves out most fields, or one that all need."""
    one, other = _names(node), _names(whole)
    spaces = {text_of(get(each, "metadata", "namespace")) for each in (node, whole)} - {None}
    return len(spaces) < _TWO and (bool((other - one) & _NEEDED) or 2 * _fields(node) <= _fields(whole))


def _names(node: Node) -> set[str]:
    """The names of all fields of a resource."""
    return {key.text for one in walk(node) for key, _ in entries(one)}


def _identity(node: Node) -> object:
    """What tells resources apart: the group, the kind and the name."""
    group = (text_of(get(node, "apiVersion")) or "").rpartition("/")[0]
    return group, text_of(get(node, "kind")), text_of(get(node, "metadata", "name"))


def _fields(node: Node) -> int:
    """The number of plain values in a resource."""
    return sum(isinstance(one, ScalarNode) for one in walk(node)) if items(node) or entries(node) else 1
